#pragma once

#include "tools/simgpu/core/gpu_profile.h"
#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu {

// What cuDeviceGetAttribute answers for a board, its place in the machine aside; 0 for what it
// cannot do, and for attributes that this table does not know.
int device_attribute(const GpuProfile& profile, CUdevice_attribute attribute);

}  // namespace simgpu
