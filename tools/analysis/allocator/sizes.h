// How large a block a request gets, and how large a segment is taken for it.
#pragma once

#include <cstdint>

#include "tools/analysis/allocator/settings.h"

namespace vramscope {

constexpr uint64_t kMinBlockBytes = 512;
constexpr uint64_t kSmallBytes = kMebibyte;  // largest block of the small pool
constexpr uint64_t kSmallSegmentBytes = 2 * kMebibyte;

// What a block of the cache must have at least to serve the request.
uint64_t rounded_request(uint64_t requested_bytes, const AllocatorSettings& settings);

// The segment that is taken from the driver for a rounded request (without expandable segments).
uint64_t segment_bytes_for(uint64_t rounded_bytes, const AllocatorSettings& settings);

// Which pages an expandable segment is mapped in.
uint64_t page_bytes_of(bool small_pool, const AllocatorSettings& settings);

}  // namespace vramscope
