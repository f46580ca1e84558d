#pragma once

#include "tools/simgpu/core/graph.h"
#include "tools/simgpu/driver/driver_state.h"

namespace simgpu {

// What a launch of the kernel from a graph does to data: makes small values that the host may read
// stale.
Effect kernel_effect(const Kernel& kernel);

}  // namespace simgpu
