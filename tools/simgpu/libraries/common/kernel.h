#pragma once

#include <cuda.h>

namespace simgpu::libraries {

/// Launches the empty kernel that stands for a library's work, in the calling thread's context.
/// Any thread.
CUresult launch_kernel(CUstream stream);

}  // namespace simgpu::libraries
