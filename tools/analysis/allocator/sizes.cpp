#include "tools/analysis/allocator/sizes.h"

#include <algorithm>
#include <bit>

namespace vramscope {
namespace {

constexpr uint64_t kOwnSegmentBytes = 10 * kMebibyte;  // from here on a segment serves one request
constexpr uint64_t kSegmentStepBytes = 2 * kMebibyte;
constexpr uint64_t kLargestRequest = uint64_t{1} << 62;  // above: cannot be rounded, never served

constexpr uint64_t round_up(uint64_t bytes, uint64_t step) {
  return (bytes + step - 1) / step * step;
}

uint64_t divisions_for(uint64_t bytes, const AllocatorSettings& settings) {
  const auto doublings = static_cast<size_t>(std::bit_width(bytes / kMebibyte));  // 1 MiB: 1
  const size_t interval = doublings == 0 ? 0 : doublings - 1;
  return settings
      .roundup_power2_divisions[std::min(interval, settings.roundup_power2_divisions.size() - 1)];
}

uint64_t next_division(uint64_t bytes, uint64_t divisions) {
  const uint64_t power = std::bit_floor(bytes);
  if (power == bytes) return bytes;
  const uint64_t step = power / std::bit_floor(divisions);
  return step == 0 ? 2 * power : round_up(bytes, step);
}

}  // namespace

uint64_t rounded_request(uint64_t requested_bytes, const AllocatorSettings& settings) {
  if (requested_bytes < kMinBlockBytes) return kMinBlockBytes;
  if (requested_bytes > kLargestRequest) return requested_bytes;
  const uint64_t divisions = divisions_for(requested_bytes, settings);
  if (divisions > 1 && requested_bytes > kMinBlockBytes * divisions)
    return next_division(requested_bytes, divisions);
  return round_up(requested_bytes, kMinBlockBytes);
}

uint64_t segment_bytes_for(uint64_t rounded_bytes, const AllocatorSettings& settings) {
  if (rounded_bytes <= kSmallBytes) return kSmallSegmentBytes;
  if (rounded_bytes < kOwnSegmentBytes) return settings.large_segment_bytes;
  if (rounded_bytes > kLargestRequest) return rounded_bytes;
  return round_up(rounded_bytes, kSegmentStepBytes);
}

uint64_t page_bytes_of(bool small_pool, const AllocatorSettings& settings) {
  return small_pool ? kSmallSegmentBytes : settings.large_segment_bytes;
}

}  // namespace vramscope
