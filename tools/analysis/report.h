// The figures of `vramscope report`: peaks, what was live, what filled the device at its peak.
//
// Plain data, without text: tools/cli prints it and writes it as JSON. Stack and string ids are
// those of the process's recording, which must outlive the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/analysis/out_of_memory.h"
#include "tools/analysis/range_use.h"
#include "tools/model/recording.h"

namespace vramscope {

// Blocks with one stack and category.
struct StackUse {
  StackId stack = 0;
  StringId category = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

struct CategoryUse {
  StringId category = 0;  // 0: unknown
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Memory taken from the driver by one library.
struct OwnerUse {
  std::string_view owner;
  uint64_t bytes = 0;
};

// The peak is the first moment at which most bytes were allocated (of equals, the one with most
// memory taken from the driver).
struct DeviceReport {
  int device = 0;
  uint64_t peak_allocated_bytes = 0;
  uint64_t peak_reserved_bytes = 0;
  uint64_t peak_outside_bytes = 0;  // beside the process's caching allocator
  uint64_t live_bytes = 0;          // allocated after the last event
  uint64_t live_blocks = 0;
  uint64_t live_reserved_bytes = 0;

  size_t events = 0;      // of the trace
  size_t peak_event = 0;  // the peak is the state after so many events
  int64_t peak_time_us = 0;
  std::vector<CategoryUse> allocated_at_peak;  // all three: largest first
  std::vector<OwnerUse> owners_at_peak;
  std::vector<StackUse> stacks_at_peak;
  RangeReport ranges;
};

struct ProcessReport {
  const ProcessRecording* process = nullptr;
  std::vector<DeviceReport> devices;  // those with events or memory
  std::vector<OutOfMemory> ooms;      // by time
};

ProcessReport report_process(const ProcessRecording& process);

}  // namespace vramscope
