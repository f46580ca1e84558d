// The few driver calls that the programs and libraries of this folder make.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

namespace edges {

constexpr size_t kMiB = 1 << 20;

inline void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", call, result);
  std::abort();
}
#define CHECK(call) check(call, #call)

inline void use_device(CUdevice device) {
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
}

inline CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr address = 0;
  CHECK(cuMemAlloc(&address, bytes));
  return address;
}

inline void free_again(CUdeviceptr address) { CHECK(cuMemFree(address)); }

}  // namespace edges
