// Copies between devices. They take a stream, but have no per-thread twin.

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

/// One address space holds all devices, so an ordinary copy does it; the devices are only checked.
cudaError_t check_devices(int first, int second) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  const bool valid = first >= 0 && first < device_count() && second >= 0 && second < device_count();
  return valid ? cudaSuccess : record_error(cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, size_t size_bytes) {
  cudaError_t error = check_devices(destination_device, source_device);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpy>(destination, source, size_bytes);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, size_t size_bytes, cudaStream_t stream) {
  cudaError_t error = check_devices(destination_device, source_device);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpyAsync>(destination, source, size_bytes, stream);
}

}  // extern "C"
