// What a device's memory did inside named ranges: NVTX's by name, optimizers' by where they were
// called.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/model/recording.h"

namespace vramscope {

// All NVTX ranges of one name and domain.
struct NvtxUse {
  RangeKind kind = RangeKind::kNvtxPushed;
  StringId name = 0;
  StringId domain = 0;
  uint64_t times = 0;
  uint64_t open = 0;                  // of them without an end in the recording
  uint64_t peak_allocated_bytes = 0;  // at most, inside any of them
  int64_t kept_bytes = 0;             // allocated at the end - at the beginning, at most
};

// All calls of step(), or of zero_grad(), with one stack of callers.
//
// A step reaches from the end of the call before (the first: from the start) to its own end: it has
// the forward and the backward pass in it that led to it.
struct StepUse {
  RangeKind kind = RangeKind::kOptimizerStep;
  StackId stack = 0;
  std::vector<uint64_t> peak_allocated_bytes;  // of each step
  // Allocated bytes gained a step, from the end of the second step to the end of the last: the
  // first ones make the optimizer's state. Unknown with fewer than three.
  std::optional<double> growth_bytes;
};

struct RangeReport {
  std::vector<NvtxUse> nvtx;   // largest peak first
  std::vector<StepUse> steps;  // in the order of their first calls
};

RangeReport report_ranges(const ProcessRecording& process, const DeviceTrace& trace);

}  // namespace vramscope
