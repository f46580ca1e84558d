// Stream-ordered allocation.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaMallocAsync(void** address, size_t size_bytes, cudaStream_t stream) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  *address = nullptr;  // nothing was asked for: success and no memory
  if (size_bytes == 0) return cudaSuccess;
  return forward<&DriverApi::cuMemAllocAsync>(address, size_bytes, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** address, size_t size_bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return forward<&DriverApi::cuMemAllocFromPoolAsync>(address, size_bytes, pool, stream);
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return forward<&DriverApi::cuMemFreeAsync>(address, stream);
}

}  // extern "C"
