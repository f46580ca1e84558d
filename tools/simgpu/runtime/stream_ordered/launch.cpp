// Launches: of kernels by host symbol or handle, and of host functions.

#include "tools/simgpu/runtime/forward.h"
#include "tools/simgpu/runtime/registration.h"

namespace simgpu::runtime {
namespace {

// Limits of every GPU since compute capability 7.0 (CUDA C Programming Guide, "Compute
// Capabilities").
constexpr unsigned kMaxThreadsPerBlock = 1024;
constexpr unsigned kMaxGridYZ = 65535;

bool valid_shape(const dim3& grid, const dim3& block) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return false;
  if (block.x == 0 || block.y == 0 || block.z == 0) return false;
  if (grid.y > kMaxGridYZ || grid.z > kMaxGridYZ) return false;
  const unsigned long long threads = 1ull * block.x * block.y * block.z;
  return threads <= kMaxThreadsPerBlock;
}

bool fits_shared_memory(size_t dynamic_bytes) {
  int limit_bytes = 0;
  driver_api().cuDeviceGetAttribute(
      &limit_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, current_device());
  return dynamic_bytes <= static_cast<size_t>(limit_bytes);
}

struct Launch {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

cudaError_t check(CUkernel kernel, const Launch& launch) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  if (kernel == nullptr) return record_error(cudaErrorInvalidDeviceFunction);
  if (!valid_shape(launch.grid, launch.block) || !fits_shared_memory(launch.shared_bytes)) {
    return record_error(cudaErrorInvalidConfiguration);
  }
  return cudaSuccess;
}

cudaError_t launch_kernel(CUkernel kernel, const Launch& launch, void** arguments) {
  if (cudaError_t error = check(kernel, launch); error != cudaSuccess) return error;
  const auto& [grid, block, shared_bytes, stream] = launch;
  return record_error(driver_api().cuLaunchKernel(
      reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
      static_cast<unsigned>(shared_bytes), stream, arguments, nullptr));
}

/// The kernel behind a host symbol; the driver must be there to look it up.
CUkernel kernel_of(const void* host_symbol) {
  return initialise() == cudaSuccess ? find_kernel(host_symbol) : nullptr;
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return launch_kernel(kernel_of(function), {grid, block, shared_bytes, stream}, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return launch_kernel(
      kernel_of(function),
      {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream}, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes,
                                        cudaStream_t stream) {
  CUkernel kernel = kernel_of(function);
  cudaError_t error = check(kernel, {grid, block, shared_bytes, stream});
  if (error != cudaSuccess) return error;
  return record_error(driver_api().cuLaunchCooperativeKernel(
      reinterpret_cast<CUfunction>(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
      static_cast<unsigned>(shared_bytes), stream, arguments));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return forward<&DriverApi::cuLaunchHostFunc>(stream, function, user_data);
}

// nvcc's generated code launches by kernel handle. Not in a public header.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif
__attribute__((visibility("default"))) cudaError_t __cudaLaunchKernel(cudaKernel_t kernel,
                                                                      dim3 grid, dim3 block,
                                                                      void** arguments,
                                                                      size_t shared_bytes,
                                                                      cudaStream_t stream) {
  return launch_kernel(kernel, {grid, block, shared_bytes, stream}, arguments);
}

}  // extern "C"
