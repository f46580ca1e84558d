// What PyTorch's allocator would have done with other settings, on another card.
//
//   const RequestTrace requests = requests_of(trace);
//   const ReplayResult result = replay(requests, {.settings = settings, .capacity_bytes = 24 GiB});
//   if (!result.out_of_memory) ... result.peak_reserved_bytes
//
// The program is taken to ask for the same whatever happens; it ends at the first request that
// fails although the recording served it. Safe in several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tools/analysis/allocator/caching_allocator.h"
#include "tools/analysis/allocator/requests.h"
#include "tools/analysis/allocator/settings.h"

namespace vramscope {

constexpr uint64_t kUnlimitedBytes = uint64_t{1} << 46;  // 64 TiB: more than any device has

struct ReplayOptions {
  AllocatorSettings settings;
  // What the allocator and the memory beside it can have; the context's share is not in recordings.
  uint64_t capacity_bytes = kUnlimitedBytes;
  std::span<const uint32_t> empty_cache_at;  // before these events of the trace, ascending
  AllocatorListener* listener = nullptr;     // hears all, in order
  bool stop_at_failure = true;               // at the first that the recording served
};

// A request for which there was no memory, and what there was.
struct ReplayFailure {
  uint32_t event = 0;  // of the trace
  uint64_t requested_bytes = 0;
  uint64_t needed_bytes = 0;  // of the driver
  uint64_t free_bytes = 0;    // of the device
  uint64_t reserved_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t active_bytes = 0;
  uint64_t outside_bytes = 0;
  uint64_t largest_cached_block = 0;
  bool is_outside = false;   // memory beside the allocator
  bool was_refused = false;  // in the recording too
};

struct ReplayResult {
  uint64_t peak_reserved_bytes = 0;
  uint64_t peak_allocated_bytes = 0;
  uint64_t peak_active_bytes = 0;
  uint64_t peak_device_bytes = 0;           // reserved and outside
  uint64_t allocated_at_peak_reserved = 0;  // when first most was reserved: the rest lay idle
  AllocatorCounters end;                    // after the last event, driver calls in all
  uint64_t requests = 0;                    // served, of the program's allocations
  uint64_t refused_as_recorded = 0;         // failed in the recording and here
  uint64_t refused_before = 0;              // failed in the recording, served here
  std::optional<ReplayFailure> failure;     // the first; with stop_at_failure the end

  double idle_share() const {
    return peak_reserved_bytes == 0 ? 0
                                    : 1 - static_cast<double>(allocated_at_peak_reserved) /
                                              static_cast<double>(peak_reserved_bytes);
  }
};

ReplayResult replay(const RequestTrace& requests, const ReplayOptions& options);

}  // namespace vramscope
