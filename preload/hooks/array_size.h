// Bytes of an array's texels, from its description.
#pragma once

#include <algorithm>
#include <cstdint>

#include "preload/hooks/cuda_api.h"

namespace vramscope {

// Bytes of one channel of one texel in the formats that have channels; 0: not known (block
// compression, video planes).
constexpr uint64_t channel_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

constexpr uint64_t array_bytes(uint64_t width, uint64_t height, uint64_t depth,
                               uint64_t texel_bytes) {
  // A height or depth of 0 means that the array does not have that dimension.
  return width * std::max<uint64_t>(height, 1) * std::max<uint64_t>(depth, 1) * texel_bytes;
}

constexpr uint64_t array_bytes(const auto& description) {
  const uint64_t texel_bytes = channel_bytes(description.Format) * description.NumChannels;
  if constexpr (requires { description.Depth; }) {
    return array_bytes(description.Width, description.Height, description.Depth, texel_bytes);
  } else {
    return array_bytes(description.Width, description.Height, 0, texel_bytes);
  }
}

// Each level halves every dimension but the number of layers, down to 1. There are no more levels
// than that takes, and at least one, whatever was asked for.
constexpr uint64_t mipmapped_array_bytes(const CUDA_ARRAY3D_DESCRIPTOR& description,
                                         unsigned levels) {
  const uint64_t texel_bytes = channel_bytes(description.Format) * description.NumChannels;
  const bool depth_is_layers = (description.Flags & CUDA_ARRAY3D_LAYERED) != 0 ||
                               (description.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  uint64_t width = description.Width;
  uint64_t height = description.Height;
  uint64_t depth = description.Depth;
  uint64_t bytes = array_bytes(width, height, depth, texel_bytes);
  for (unsigned level = 1; level < levels; ++level) {
    if (width <= 1 && height <= 1 && (depth_is_layers || depth <= 1)) break;
    width = std::max<uint64_t>(width / 2, 1);
    height /= 2;
    if (!depth_is_layers) depth /= 2;
    bytes += array_bytes(width, height, depth, texel_bytes);
  }
  return bytes;
}

}  // namespace vramscope
