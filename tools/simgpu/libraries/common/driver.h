#pragma once

#include <cuda.h>

// The public driver API, as the libraries use it.

namespace simgpu::libraries {

/// Signatures of CUDA 12.9 (what version 12090 of cuGetProcAddress gives). A member is null where
/// there is no driver.
struct Driver {
  decltype(&::cuCtxGetDevice) get_device = nullptr;
  decltype(&::cuLaunchKernel) launch_kernel = nullptr;
  decltype(&::cuLibraryLoadData) load_library = nullptr;
  decltype(&::cuLibraryGetKernel) get_kernel = nullptr;
  decltype(&::cuMemAlloc) allocate = nullptr;
  decltype(&::cuMemFree) free = nullptr;
  decltype(&::cuMemcpyAsync) copy = nullptr;
  decltype(&::cuMemcpy2DAsync) copy_2d = nullptr;
  decltype(&::cuStreamSynchronize) synchronize = nullptr;
  decltype(&::cuStreamIsCapturing) is_capturing = nullptr;
};

/// Looked up once, in libcuda.so.1 through cuGetProcAddress, so that a preloaded profiler sees the
/// calls. Any thread; creates no context.
const Driver& driver();

}  // namespace simgpu::libraries
