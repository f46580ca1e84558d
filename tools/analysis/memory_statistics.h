// What torch.cuda.memory_stats() says, from a recording, at any moment: names and counting are
// PyTorch's native allocator's.
//
// Peaks and totals count from the beginning of the recording: that the program reset them is not
// recorded. Plain data without text; nothing refers to the recording.
#pragma once

#include <array>
#include <cstdint>

#include "tools/model/device_memory.h"
#include "tools/model/recording.h"

namespace vramscope {

struct Statistic {
  uint64_t current = 0;
  uint64_t peak = 0;
  uint64_t allocated = 0;  // sum of all increases
  uint64_t freed = 0;      // and decreases

  bool operator==(const Statistic&) const = default;
};

enum class Metric : uint8_t {
  kAllocatedBytes,      // blocks that have an owner
  kActiveBytes,         // and those that a stream still uses
  kRequestedBytes,      // what the active ones were asked for as
  kReservedBytes,       // segments
  kInactiveSplitBytes,  // free, but in a segment with an active block: cannot be given back
  kAllocation,          // counts of the same
  kActive,
  kSegment,
  kInactiveSplit,
};
constexpr size_t kMetricCount = 9;

// As in torch.cuda.memory_stats_as_nested_dict().
const char* metric_name(Metric metric);

enum class PoolKind : uint8_t { kAll, kSmall, kLarge };
constexpr size_t kPoolKindCount = 3;

const char* pool_kind_name(PoolKind kind);  // "all", "small_pool", "large_pool"

struct MemoryStatistics {
  std::array<std::array<Statistic, kPoolKindCount>, kMetricCount> metrics{};
  uint64_t ooms = 0;
  uint64_t retries = 0;  // the driver refused, the cache was emptied, and the driver asked again
  DeviceMemory device;

  Statistic& at(Metric metric, PoolKind kind) {
    return metrics[static_cast<size_t>(metric)][static_cast<size_t>(kind)];
  }
  const Statistic& at(Metric metric, PoolKind kind) const {
    return metrics[static_cast<size_t>(metric)][static_cast<size_t>(kind)];
  }
};

// After the first `events` events of the trace, which is one of the process.
MemoryStatistics memory_statistics(const ProcessRecording& process, const DeviceTrace& trace,
                                   size_t events);

}  // namespace vramscope
