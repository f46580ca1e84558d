// kernel<<<grid, block, shared, stream>>>(...): the program pushes the configuration, then the
// kernel's host stub pops it and launches.

#include <vector>

#include "tools/simgpu/runtime/runtime_state.h"

namespace {

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  cudaStream_t stream;
};

thread_local std::vector<CallConfiguration> pushed_configurations;

}  // namespace

// Declared in crt/host_runtime.h, which only nvcc can include.
#pragma GCC visibility push(default)
extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     cudaStream_t stream) {
  pushed_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (pushed_configurations.empty()) {
    return simgpu::runtime::record_error(cudaErrorMissingConfiguration);
  }
  const CallConfiguration configuration = pushed_configurations.back();
  pushed_configurations.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = configuration.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
