#pragma once

#include "tools/simgpu/core/graph.h"
#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu {

// What a graph's node that records the event does at each launch; nothing once the event is
// destroyed.
Effect record_effect(CUevent event);

}  // namespace simgpu
