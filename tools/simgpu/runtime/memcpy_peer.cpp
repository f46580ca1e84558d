// Copies between devices. They take a stream, but have no per-thread twin.

#include <initializer_list>

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

/// The primary contexts of the two devices, created if need be.
cudaError_t contexts_of(int destination_device, int source_device, CUcontext* destination,
                        CUcontext* source) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  for (int device : {destination_device, source_device}) {
    if (device < 0 || device >= device_count()) return record_error(cudaErrorInvalidDevice);
  }
  cudaError_t error = primary_context(destination_device, destination);
  return error != cudaSuccess ? error : primary_context(source_device, source);
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t size_bytes) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  cudaError_t error = contexts_of(destination_device, source_device, &to, &from);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpyPeer>(destination, to, source, from, size_bytes);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t size_bytes, cudaStream_t stream) {
  CUcontext to = nullptr;
  CUcontext from = nullptr;
  cudaError_t error = contexts_of(destination_device, source_device, &to, &from);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpyPeerAsync>(destination, to, source, from, size_bytes, stream);
}

}  // extern "C"
