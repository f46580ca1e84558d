// Kernels and variables as objects: handles, attributes, occupancy.

#include <algorithm>
#include <cstring>

#include "tools/simgpu/runtime/forward.h"
#include "tools/simgpu/runtime/registration.h"

namespace simgpu::runtime {
namespace {

cudaError_t bound_kernel(const void* host_symbol, CUkernel* kernel) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  *kernel = find_kernel(host_symbol);
  return *kernel != nullptr ? cudaSuccess : record_error(cudaErrorInvalidDeviceFunction);
}

int kernel_attribute(CUkernel kernel, CUfunction_attribute attribute) {
  int value = 0;
  driver_api().cuKernelGetAttribute(&value, attribute, kernel, current_device());
  return value;
}

int device_attribute(CUdevice_attribute attribute) {
  int value = 0;
  driver_api().cuDeviceGetAttribute(&value, attribute, current_device());
  return value;
}

/// Resident blocks of a kernel that uses few registers: bounded by threads, block slots and shared
/// memory. The simulated kernels are empty, so their register use cannot bound it.
int resident_blocks(int block_threads, size_t dynamic_shared_bytes) {
  const int warp = device_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  const int rounded_threads = (block_threads + warp - 1) / warp * warp;
  int blocks =
      device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / rounded_threads;
  blocks = std::min(blocks, device_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
  if (dynamic_shared_bytes > 0) {
    const size_t per_block = dynamic_shared_bytes +
                             device_attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    const size_t per_multiprocessor =
        device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    blocks = std::min(blocks, static_cast<int>(per_multiprocessor / per_block));
  }
  return blocks;
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_symbol) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  *kernel = find_kernel(host_symbol);
  return *kernel != nullptr ? cudaSuccess : record_error(cudaErrorInvalidDeviceFunction);
}

// Called by nvcc's generated code; not in a public header.
__attribute__((visibility("default"))) cudaError_t __cudaGetKernel(cudaKernel_t* kernel,
                                                                   const void* host_symbol) {
  return cudaGetKernel(kernel, host_symbol);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host_symbol) {
  CUkernel kernel = nullptr;
  if (cudaError_t error = bound_kernel(host_symbol, &kernel); error != cudaSuccess) return error;
  return record_error(driver_api().cuKernelGetFunction(function, kernel));
}

cudaError_t cudaFuncGetName(const char** name, const void* host_symbol) {
  CUkernel kernel = nullptr;
  if (cudaError_t error = bound_kernel(host_symbol, &kernel); error != cudaSuccess) return error;
  return record_error(driver_api().cuKernelGetName(name, kernel));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host_symbol) {
  CUkernel kernel = nullptr;
  if (cudaError_t error = bound_kernel(host_symbol, &kernel); error != cudaSuccess) return error;
  std::memset(attributes, 0, sizeof *attributes);
  attributes->sharedSizeBytes = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes->constSizeBytes = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes->localSizeBytes = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes->maxThreadsPerBlock =
      kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->ptxVersion = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->binaryVersion = kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->maxDynamicSharedSizeBytes =
      kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes->preferredShmemCarveout =
      kernel_attribute(kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* host_symbol, cudaFuncAttribute attribute, int value) {
  CUkernel kernel = nullptr;
  if (cudaError_t error = bound_kernel(host_symbol, &kernel); error != cudaSuccess) return error;
  return forward<&DriverApi::cuKernelSetAttribute>(attribute, value, kernel, current_device());
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  return forward<&DriverApi::cuKernelSetAttribute>(attribute, value, kernel, device);
}

// Hints about caches and banks: the hardware may ignore them, and the simulated one does.
cudaError_t cudaFuncSetCacheConfig(const void* host_symbol, cudaFuncCache) {
  CUkernel kernel = nullptr;
  return bound_kernel(host_symbol, &kernel);
}

cudaError_t cudaFuncSetSharedMemConfig(const void* host_symbol, cudaSharedMemConfig) {
  CUkernel kernel = nullptr;
  return bound_kernel(host_symbol, &kernel);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int block_threads,
                                                                   size_t dynamic_shared_bytes,
                                                                   unsigned) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  if (block_threads <= 0) return record_error(cudaErrorInvalidValue);
  *blocks = resident_blocks(block_threads, dynamic_shared_bytes);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_symbol,
                                                          int block_threads,
                                                          size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host_symbol, block_threads,
                                                                dynamic_shared_bytes, 0);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* host_symbol) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  size_t size_bytes = 0;
  return find_variable(host_symbol, address, &size_bytes);
}

cudaError_t cudaGetSymbolSize(size_t* size_bytes, const void* host_symbol) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  void* address = nullptr;
  return find_variable(host_symbol, &address, size_bytes);
}

}  // extern "C"
