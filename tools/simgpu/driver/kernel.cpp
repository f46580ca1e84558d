// Kernels: attributes, occupancy, launches. A launch takes place in its stream and does nothing.
#include "tools/simgpu/driver/kernel.h"

#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr int kRegistersPerThread = 32;
constexpr int kMaxClusters = 8;

// torch.cuda._sleep: keeps its stream busy for as many clock cycles as its one argument says.
constexpr std::string_view kSpinKernel = "spin_kernel";
// Stand-ins for NVIDIA's libraries launch kernels of such names to stand for a call. They have set
// their outputs by copies already, which the launch must not make stale.
constexpr std::string_view kStandInPrefix = "simulated_";

CUresult with_kernel(auto handle, auto body) {
  return with_driver([&](Driver& state) {
    Kernel* kernel = state.kernels.find(handle);
    return kernel ? body(state, *kernel) : CUDA_ERROR_INVALID_HANDLE;
  });
}

int attribute_of(const Driver& state, const Kernel& kernel, CUfunction_attribute attribute) {
  const GpuProfile& profile = state.configuration.gpus.profile;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return kRegistersPerThread;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return profile.compute_major * 10 + profile.compute_minor;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return kernel.max_dynamic_shared_bytes;
    default:
      return 0;
  }
}

CUresult set_attribute(auto handle, CUfunction_attribute attribute, int value) {
  return with_kernel(handle, [&](const Driver& state, Kernel& kernel) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
    const GpuProfile& profile = state.configuration.gpus.profile;
    if (value < 0 || value > architecture_limits(profile).shared_bytes_per_block_opt_in) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    kernel.max_dynamic_shared_bytes = value;
    return CUDA_SUCCESS;
  });
}

CUresult get_attribute(int* value, auto handle, CUfunction_attribute attribute) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](const Driver& state, const Kernel& kernel) {
    *value = attribute_of(state, kernel, attribute);
    return CUDA_SUCCESS;
  });
}

CUresult get_name(const char** name, auto handle) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Driver&, const Kernel& kernel) {
    *name = kernel.name.c_str();
    return CUDA_SUCCESS;
  });
}

bool writes_memory(const Kernel& kernel) { return !kernel.name.starts_with(kStandInPrefix); }

Ticks spin_duration(const Kernel& kernel, void** arguments, int clock_khz) {
  if (!arguments || kernel.name.find(kSpinKernel) == std::string::npos) return 0;
  int64_t cycles = 0;
  std::memcpy(&cycles, arguments[0], sizeof cycles);
  return ticks_of(static_cast<double>(cycles) * 1e6 / clock_khz);
}

int occupancy(const Driver& state, int block_size) {
  if (block_size <= 0) return 1;
  const ArchitectureLimits& limits = architecture_limits(state.configuration.gpus.profile);
  return std::min(limits.threads_per_sm / block_size, limits.blocks_per_sm);
}

CUresult launch_kernel(CUfunction handle, CUstream stream_handle, void** arguments) {
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    const Kernel* kernel = state.kernels.find(handle);
    if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, stream_handle, &stream)) return result;
    Device& device = state.devices[stream->device];
    const Ticks duration = spin_duration(*kernel, arguments, device.profile.clock_khz);
    if (stream->capture) {
      return result_of(state.captures.add(*stream, NodeType::kKernel, kernel_effect(*kernel),
                                          duration, kernel->name));
    }
    device.timeline.enqueue(*stream, simgpu_clock.now(), duration, state.configuration.lag_calls);
    if (writes_memory(*kernel)) state.data_mover.kernel_ran();
    return CUDA_SUCCESS;
  });
}

}  // namespace

Effect kernel_effect(const Kernel& kernel) {
  if (!writes_memory(kernel)) return {};
  return [] {
    with_driver([](Driver& state) {
      state.data_mover.kernel_ran();
      return CUDA_SUCCESS;
    });
  };
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, CUstream stream, void** arguments, void**) {
  return launch_kernel(function, stream, arguments);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* configuration, CUfunction function,
                          void** arguments, void**) {
  if (!configuration) return CUDA_ERROR_INVALID_VALUE;
  return launch_kernel(function, configuration->hStream, arguments);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, unsigned, CUstream stream,
                                   void** arguments) {
  return launch_kernel(function, stream, arguments);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel handle) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Driver&, Kernel& kernel) {
    *function = handle_of<CUfunction>(&kernel);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  if (!library) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Driver&, const Kernel& kernel) {
    *library = handle_of<CUlibrary>(kernel.module);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel(handle, [&](Driver&, const Kernel& kernel) {
    *module = handle_of<CUmodule>(kernel.module);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) { return get_name(name, kernel); }
CUresult cuFuncGetName(const char** name, CUfunction function) { return get_name(name, function); }

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  return get_attribute(value, kernel, attribute);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute(value, function, attribute);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  return set_attribute(kernel, attribute, value);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute(function, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return with_kernel(function, [](Driver&, Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
  return with_kernel(kernel, [](Driver&, Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuFuncLoad(CUfunction function) {
  return with_kernel(function, [](Driver&, Kernel&) { return CUDA_SUCCESS; });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* loaded, CUfunction function) {
  if (!loaded) return CUDA_ERROR_INVALID_VALUE;
  *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
  return cuFuncLoad(function);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int block_size,
                                                     size_t) {
  if (!blocks) return CUDA_ERROR_INVALID_VALUE;
  *blocks = occupancy(driver(), block_size);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, size_t shared_bytes,
                                                              unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction,
                                          CUoccupancyB2DSize, size_t, int limit) {
  if (!grid_size || !block_size) return CUDA_ERROR_INVALID_VALUE;
  const Driver& state = driver();
  *block_size = limit > 0 ? std::min(limit, 1024) : 1024;
  *grid_size = occupancy(state, *block_size) * state.configuration.gpus.profile.sm_count;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
  if (!clusters) return CUDA_ERROR_INVALID_VALUE;
  *clusters = kMaxClusters;
  return CUDA_SUCCESS;
}
