// Whether the replay of a recording, with its own settings, does what the real allocator did: only
// then its answers for other settings are worth something.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/analysis/allocator/replay.h"
#include "tools/model/recording.h"

namespace vramscope {

struct Agreement {
  // Event by event: actions, addresses, sizes, streams and pools.
  uint64_t events = 0;                       // recorded
  uint64_t equal_events = 0;                 // up to the first difference
  std::optional<uint32_t> first_difference;  // event of the trace
  // What stands there, and what the replay did instead; empty: nothing more.
  std::optional<AllocatorEvent> recorded_there;
  std::optional<AllocatorEvent> replayed_there;
  // Segments taken from the driver, each with the request that needed it.
  uint64_t segments = 0;  // recorded
  uint64_t equal_segments = 0;
  uint64_t replayed_segments = 0;
  uint64_t recorded_peak_reserved_bytes = 0;
  ReplayResult replayed;

  bool agrees() const {
    return equal_segments == segments && replayed_segments == segments &&
           replayed.peak_reserved_bytes == recorded_peak_reserved_bytes;
  }
};

// `options.listener` is not used.
Agreement compare_with_recording(const DeviceTrace& trace, const RequestTrace& requests,
                                 ReplayOptions options);

}  // namespace vramscope
