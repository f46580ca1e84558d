// The heap of one device, rebuilt from its trace.
//
//   Heap heap(trace);                      // before the first event
//   for (const TraceEvent event : trace.events) heap.apply(event);
//   HeapLayout now = heap.layout();
//
// Works with any trace, also with hostile ones: an event that makes no sense (a free of nothing)
// changes nothing. Copies are independent: HeapHistory keeps some as checkpoints.
//
// What lived before the first event of a trace whose beginning was lost is found as PyTorch's
// viewer finds it: the state after the last event, with the events undone one by one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tools/model/address_map.h"
#include "tools/model/recording.h"

namespace vramscope {

// Bytes of one device, as PyTorch counts them: its caching allocator's memory, or everything where
// there is none. `outside_*` is what others took beside it.
struct HeapCounters {
  uint64_t allocated_bytes = 0;  // blocks whose owner has not given them back
  uint64_t active_bytes = 0;     // and those that a stream still uses: pending frees
  uint64_t requested_bytes = 0;  // what the active blocks were asked for as
  uint64_t reserved_bytes = 0;   // segments
  uint64_t blocks = 0;           // allocated
  uint64_t active_blocks = 0;
  uint64_t segments = 0;
  uint64_t outside_bytes = 0;  // segments

  uint64_t pending_free_bytes() const { return active_bytes - allocated_bytes; }
  bool operator==(const HeapCounters&) const = default;
};

class Heap {
 public:
  // `trace` must outlive the heap.
  explicit Heap(const DeviceTrace& trace);

  void apply(const TraceEvent& event);

  const HeapCounters& counters() const { return counters_; }

  struct LiveBlock {
    uint64_t size = 0;
    uint64_t requested_bytes = 0;
    uint64_t stream = 0;
    StackId stack = 0;
    StringId category = 0;
    bool pending_free = false;
    bool outside = false;

    bool operator==(const LiveBlock&) const = default;
  };
  const AddressMap<LiveBlock>& blocks() const { return blocks_; }

  struct LiveSegment {
    uint64_t size = 0;
    uint64_t stream = 0;
    std::array<int64_t, 2> pool{};
    StackId stack = 0;
    StringId owner = 0;
    bool outside = false;
    bool is_expandable = false;

    bool operator==(const LiveSegment&) const = default;
  };
  const std::map<uint64_t, LiveSegment>& segments() const { return segments_; }

  // Segments and blocks by address, gaps as inactive blocks. A block that lies in no segment, or
  // overlaps the one before it, is left out.
  HeapLayout layout() const;

  // What a copy of it takes, about.
  size_t memory_bytes() const;

 private:
  void add_all(const HeapLayout& layout);
  void undo(const TraceEvent& event);
  void open_block(uint64_t address, const LiveBlock& block);
  void close_block(uint64_t address);
  void request_free(uint64_t address);
  void withdraw_free(uint64_t address);
  void add_segment(uint64_t address, const LiveSegment& segment);
  void remove_segment(uint64_t address);
  void map_range(uint64_t address, const LiveSegment& range);
  void unmap_range(uint64_t address, uint64_t size);
  void count(const LiveSegment& segment, bool is_new);

  AddressMap<LiveBlock> blocks_;
  std::map<uint64_t, LiveSegment> segments_;
  HeapCounters counters_;
};

}  // namespace vramscope
