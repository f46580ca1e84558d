#pragma once

#include <cstddef>

#include "tools/simgpu/runtime/cuda_headers.h"

// The device code that a program embeds. nvcc makes each object file register, before main, its
// images ("fat binaries") and the host symbols that stand for kernels and variables. The registry
// keeps names only; an image is given to the driver when one of its symbols is first used.
//
//   host symbol --> { image, device name } --> CUkernel or device address, looked up once
//
// All functions may be called by any thread; those that look up need a loaded driver.

namespace simgpu::runtime {

/// The kernel behind a host symbol, or null. A kernel handle from the driver is accepted where a
/// host symbol is expected, as in the original.
CUkernel find_kernel(const void* host_symbol);

/// Address and size of a device variable; cudaErrorInvalidSymbol where none is registered.
cudaError_t find_variable(const void* host_symbol, void** address, size_t* size_bytes);

}  // namespace simgpu::runtime
