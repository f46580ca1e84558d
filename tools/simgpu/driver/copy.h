// Copies and sets as pieces of work, used by the calls themselves and by graph nodes.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/simgpu/core/graph.h"
#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu {

// A rectangular copy: `depth` slices of `height` rows of `width_bytes`.
struct CopyRegion {
  uint64_t destination;
  uint64_t source;
  uint64_t width_bytes;
  uint64_t height = 1;
  uint64_t depth = 1;
  uint64_t destination_pitch = 0;
  uint64_t source_pitch = 0;
  uint64_t destination_slice = 0;
  uint64_t source_slice = 0;
};

// Whether the model lets a program touch both ends.
bool is_accessible(const CopyRegion& region);
Effect copy_effect(const CopyRegion& region);

// A copy to or from an array has no region: arrays have no bytes here.
std::optional<CopyRegion> region_of(const CUDA_MEMCPY2D& copy);
std::optional<CopyRegion> region_of(const CUDA_MEMCPY3D& copy);

// `height` rows of `width` elements of `element_bytes` (1, 2 or 4), each set to `value`.
struct SetRegion {
  uint64_t destination;
  uint64_t pitch;
  uint32_t value;
  uint32_t element_bytes;
  uint64_t width;
  uint64_t height = 1;
};

bool is_accessible(const SetRegion& region);
Effect set_effect(const SetRegion& region);

}  // namespace simgpu
