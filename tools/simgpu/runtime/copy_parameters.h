#pragma once

#include "tools/simgpu/runtime/cuda_headers.h"

// Parameters of copies of boxes: the runtime's become the driver's. Both need a context, to look at
// the arrays that take part.

namespace simgpu::runtime {

CUDA_MEMCPY3D to_driver_copy(const cudaMemcpy3DParms& wanted);

/// Fails where a device has no context and cannot get one.
cudaError_t to_driver_copy(const cudaMemcpy3DPeerParms& wanted, CUDA_MEMCPY3D_PEER* copy);

}  // namespace simgpu::runtime
