// What was recorded, in one neutral form: made from session files (session_recording) and from
// PyTorch's snapshot pickles (formats/snapshot_reader) alike; everything that thinks reads this.
//
//   Recording -> ProcessRecording (one per session file or pickle; owns its strings and stacks)
//             -> DeviceTrace (one per device) -> TraceEvent (oldest first)
//
// Plain data without locks: fill it in one thread, then read it from any number. Sizes and
// addresses are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/model/cupti_audit.h"
#include "tools/model/intern.h"
#include "tools/model/memory_kinds.h"
#include "tools/model/trace_events.h"
#include "tools/model/value.h"

namespace vramscope {

enum class BlockState : uint8_t { kActive, kPendingFree, kInactive };

const char* block_state_name(BlockState state);  // "active_allocated"...

struct Block {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested_bytes = 0;  // 0 if inactive
  BlockState state = BlockState::kInactive;
  StackId stack = 0;
};

struct Segment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  std::array<int64_t, 2> pool{};  // PyTorch's private pool; {0, 0}: the default pool
  StackId stack = 0;
  StringId owner = 0;
  bool outside = false;  // see TraceEvent
  bool is_large = true;
  bool is_expandable = false;
  size_t first_block = 0;  // in HeapLayout::blocks
  size_t block_count = 0;
};

// All segments at one moment, by address. Blocks of a segment are contiguous, in address order,
// and fill it: gaps are inactive blocks.
struct HeapLayout {
  std::vector<Segment> segments;
  std::vector<Block> blocks;
};

struct DeviceTrace {
  int device = 0;
  uint64_t capacity_bytes = 0;  // of the device; 0: not in the recording
  TraceEvents events;
  // Fields of events that are kept for writing them again (user_metadata...): dicts; [0]: none.
  std::vector<Value> extras = std::vector<Value>(1);
  // The state after the last event where the recording brings it (pickles): then events may
  // concern segments and blocks from before the first one. Without it the heap begins empty.
  std::optional<HeapLayout> final_layout;
};

// A point in a process's history: between two events of each trace.
struct Moment {
  int64_t time_us = 0;
  // By device ordinal: how many events of its trace come before. Ordinals behind the end: none.
  std::vector<size_t> events;

  size_t events_of(int device) const {
    const auto index = static_cast<size_t>(device);
    return index < events.size() ? events[index] : 0;
  }
};

enum class RangeKind : uint8_t {
  kNvtxPushed,     // of one thread, nested
  kNvtxStarted,    // of the process
  kNvtxMark,       // a moment: ends where it begins
  kOptimizerStep,  // one call of step() of a PyTorch optimizer
  kZeroGrad,       // one call of zero_grad()
};

const char* range_kind_name(RangeKind kind);  // "push"...

// What the program said, or its Python stacks tell, about what it was doing.
struct NamedRange {
  RangeKind kind = RangeKind::kNvtxPushed;
  StringId name = 0;     // NVTX
  StringId domain = 0;   // NVTX; 0: the default domain
  StackId stack = 0;     // optimizers: from the caller outwards
  uint32_t thread = 0;   // thread id, 0 if unknown
  bool is_open = false;  // it had no end in the recording
  Moment begin;
  Moment end;
};

// A request that found no memory: by the driver (then it may have been made again and served) or by
// the framework, which raised an error (an `oom` event of the trace).
struct FailedRequest {
  int device = 0;
  size_t event = 0;  // so many events of the device's trace come before; an `oom` is this one
  bool is_oom = false;
  bool by_caching_allocator = false;  // of the process, which tries again after it freed its cache
  uint64_t size = 0;
  std::optional<uint64_t> free_bytes;  // of the device, just after
  uint64_t known_bytes = 0;            // taken from the driver then, in the process's trace
  uint64_t stream = 0;
  uint32_t thread = 0;
  StringId owner = 0;  // the library that asked the driver
  StackId stack = 0;
  int64_t time_us = 0;
};

// A named span of time, as PyTorch records optimizer steps and record_function ranges.
struct Annotation {
  std::string name;
  std::string stage;  // START or END
  int device = 0;
  int64_t time_us = 0;
};

// Our running totals against those that the framework gave with each block event.
struct CounterCheck {
  uint64_t compared = 0;
  uint64_t differences = 0;
  int64_t largest_difference_bytes = 0;  // ours - the framework's, allocated or reserved
};

struct ProcessRecording {
  std::string source;  // the file
  bool from_pickle = false;
  std::optional<int64_t> pid;
  std::optional<int64_t> rank;
  std::string host;
  std::string command;
  uint64_t events = 0;         // recorded, of all devices and kinds
  uint64_t lost_events = 0;    // found no room
  uint64_t repairs = 0;        // events added or left out because of holes in the recording
  bool finished = true;        // false: the process left by a signal or _exit
  std::string warning;         // of the file: cut off, damaged...; empty if sound
  std::vector<KindUse> kinds;  // what was asked of the driver; empty for pickles
  CounterCheck counters;

  StringPool strings;
  StackPool stacks;
  std::vector<DeviceTrace> devices;  // by ordinal; in pickles every ordinal below the highest used

  std::optional<CuptiAudit> cupti_audit;
  std::vector<FailedRequest> failed_requests;  // by time; of sessions only
  std::vector<NamedRange> ranges;              // by begin; of sessions only
  std::vector<Annotation> annotations;
  Value allocator_settings;
};

struct Recording {
  std::vector<std::unique_ptr<ProcessRecording>> processes;  // by rank, then pid
  std::vector<std::string> unreadable;  // files of a folder that are left out: a line for each
};

}  // namespace vramscope
