// The figures of `vramscope replay`: the recorded settings beside others. Plain data without text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/allocator/agreement.h"
#include "tools/analysis/allocator/replay.h"
#include "tools/model/recording.h"

namespace vramscope {

struct ReplayQuestion {
  std::vector<std::string> settings;             // one replay each
  bool what_if = false;                          // and one for each that may help
  std::optional<std::string> recorded_settings;  // where the recording does not have them
  std::optional<uint64_t> capacity_bytes;
  uint64_t empty_cache_every = 0;  // optimizer steps; not in the recorded row
};

struct ReplayRow {
  std::string settings;  // empty: PyTorch's defaults
  bool is_recorded = false;
  ReplayResult result;
};

enum class CapacityOrigin : uint8_t { kUnlimited, kGiven, kFailedRequest };

struct DeviceReplay {
  const ProcessRecording* process = nullptr;
  const DeviceTrace* trace = nullptr;
  uint64_t requests = 0;
  uint64_t blocks_before = 0;  // lived before the recording began: placed anew
  uint64_t capacity_bytes = kUnlimitedBytes;
  CapacityOrigin capacity_origin = CapacityOrigin::kUnlimited;
  // With the recorded settings and the capacity that the recording tells, whatever was asked for.
  Agreement agreement;
  std::vector<ReplayRow> rows;  // the recorded one first; with what_if the others best first
};

// Throws UserError: settings that PyTorch refuses, a recording of another allocator, no steps to
// empty the cache at.
DeviceReplay replay_device(const ProcessRecording& process, const DeviceTrace& trace,
                           const ReplayQuestion& question);

// Whether PyTorch's caching allocator has anything in the trace.
bool can_be_replayed(const DeviceTrace& trace);

// What there was for the allocator and the memory beside it when a request failed, if the recording
// tells.
std::optional<uint64_t> capacity_at_failure(const DeviceTrace& trace);

// From the recording, else told by its segments.
std::string recorded_settings_of(const ProcessRecording& process, const DeviceTrace& trace);

}  // namespace vramscope
