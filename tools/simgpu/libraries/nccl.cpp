// NCCL: communicators, memory, versions.

#include <sys/random.h>

#include <cstring>

#include "tools/simgpu/libraries/common/driver.h"
#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/nccl_communicator.h"

using namespace simgpu::libraries;
using namespace simgpu::libraries::nccl;

namespace {

// nccl.h of the wheels of CUDA 13.2.
constexpr int kVersion = 23007;
constexpr int kFirstUserOperation = 100;  // anything above ncclNumOps

struct UniqueId {
  char bytes[128];
};

int current_device() {
  CUdevice device = 0;
  if (driver().get_device != nullptr) driver().get_device(&device);
  return device;
}

int create(Object** communicator, int ranks, int rank, int device) {
  *communicator = new Communicator(ranks, rank, device);
  return kSuccess;
}

}  // namespace

SIMGPU_EXPORT int ncclGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

SIMGPU_EXPORT int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  constexpr ssize_t kRandomBytes = 64;
  return getrandom(id, kRandomBytes, 0) == kRandomBytes ? kSuccess : kSystemError;
}

SIMGPU_EXPORT const char* ncclGetErrorString(int result) {
  return result == kSuccess ? "no error" : "error of the simulated NCCL";
}

SIMGPU_EXPORT const char* ncclGetLastError(void*) { return ""; }

SIMGPU_EXPORT int ncclCommInitRank(Object** communicator, int ranks, UniqueId, int rank) {
  return create(communicator, ranks, rank, current_device());
}

SIMGPU_EXPORT int ncclCommInitRankConfig(Object** communicator, int ranks, UniqueId, int rank,
                                         void*) {
  return create(communicator, ranks, rank, current_device());
}

SIMGPU_EXPORT int ncclCommInitRankScalable(Object** communicator, int ranks, int rank, int,
                                           UniqueId*, void*) {
  return create(communicator, ranks, rank, current_device());
}

SIMGPU_EXPORT int ncclCommInitAll(Object** communicators, int count, const int* devices) {
  for (int rank = 0; rank < count; ++rank) {
    create(&communicators[rank], count, rank, devices != nullptr ? devices[rank] : rank);
  }
  return kSuccess;
}

SIMGPU_EXPORT int ncclCommCount(void* communicator, int* count) {
  *count = as_communicator(communicator)->ranks;
  return kSuccess;
}

SIMGPU_EXPORT int ncclCommUserRank(void* communicator, int* rank) {
  *rank = as_communicator(communicator)->rank;
  return kSuccess;
}

SIMGPU_EXPORT int ncclCommCuDevice(void* communicator, int* device) {
  *device = as_communicator(communicator)->device;
  return kSuccess;
}

SIMGPU_EXPORT int ncclCommGetAsyncError(void*, int* error) {
  *error = kSuccess;
  return kSuccess;
}

/// The handle is what is given back to ncclCommDeregister, which does nothing.
SIMGPU_EXPORT int ncclCommRegister(void*, void* buffer, size_t, void** handle) {
  *handle = buffer;
  return kSuccess;
}

SIMGPU_EXPORT int ncclRedOpCreatePreMulSum(int* operation, void*, int, int, void*) {
  *operation = kFirstUserOperation;
  return kSuccess;
}

SIMGPU_EXPORT int ncclMemAlloc(void** address, size_t size_bytes) {
  CUdeviceptr allocated = 0;
  if (driver().allocate == nullptr) return kUnhandledCudaError;
  if (driver().allocate(&allocated, size_bytes) != CUDA_SUCCESS) return kUnhandledCudaError;
  *address = reinterpret_cast<void*>(allocated);
  return kSuccess;
}

SIMGPU_EXPORT int ncclMemFree(void* address) {
  if (driver().free == nullptr) return kUnhandledCudaError;
  const CUresult result = driver().free(reinterpret_cast<CUdeviceptr>(address));
  return result == CUDA_SUCCESS ? kSuccess : kUnhandledCudaError;
}
