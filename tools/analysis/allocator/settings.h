// What PYTORCH_ALLOC_CONF (or PYTORCH_CUDA_ALLOC_CONF) says, as far as it decides where memory
// lies.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace vramscope {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

struct AllocatorSettings {
  bool expandable_segments = false;
  uint64_t max_split_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t max_non_split_rounding_bytes = 20 * kMebibyte;
  uint64_t large_segment_bytes = 20 * kMebibyte;
  double garbage_collection_threshold = 0;  // 0: never; works only with a fraction below 1
  double per_process_memory_fraction = 1;
  // Into how many steps the way to the next power of two is divided: of requests below 2 MiB, below
  // 4 MiB... 0 and 1: not rounded.
  std::array<uint64_t, 16> roundup_power2_divisions{};

  bool operator==(const AllocatorSettings&) const = default;
};

// "expandable_segments:True,max_split_size_mb:128"; empty: the defaults. Options of PyTorch that do
// not decide where device memory lies (pinned_*...) are checked and left aside. Throws UserError
// for what PyTorch refuses, and for what the model does not know: another backend.
AllocatorSettings parse_allocator_settings(std::string_view text);

}  // namespace vramscope
