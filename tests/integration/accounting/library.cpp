// A library that takes GPU memory in several ways. Built once for each name in LIBRARY.
#include "library.h"

#include <cuda_runtime_api.h>

#include "tests/integration/edges/edge_calls.h"

using edges::check;

void LIBRARY_NAME(take_linear)(size_t bytes) { edges::allocate(bytes); }

void LIBRARY_NAME(take_and_free)(size_t bytes) { edges::free_again(edges::allocate(bytes)); }

void LIBRARY_NAME(take_by_runtime)(size_t bytes) {
  void* address = nullptr;
  if (cudaMalloc(&address, bytes) != cudaSuccess) std::abort();
}

void LIBRARY_NAME(take_stream_ordered)(size_t bytes) {
  CUdeviceptr address = 0;
  CHECK(cuMemAllocAsync(&address, bytes, nullptr));
}

void LIBRARY_NAME(take_mapped)(size_t bytes) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemAddressReserve(&address, 2 * bytes, 0, 0, 0));
  CHECK(cuMemCreate(&memory, bytes, &properties, 0));
  CHECK(cuMemMap(address, bytes, 0, memory, 0));
}

void LIBRARY_NAME(take_array)(size_t texels) {
  CUDA_ARRAY_DESCRIPTOR description = {texels, 0, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  CHECK(cuArrayCreate(&array, &description));
}

void LIBRARY_NAME(ask_another)(void (*take)(size_t bytes), size_t bytes) { take(bytes); }
