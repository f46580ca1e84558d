// The heap of one device, rebuilt from its trace.
//
//   Heap heap(trace);                      // before the first event
//   for (const TraceEvent event : trace.events) heap.apply(event);
//   HeapLayout now = heap.layout();
//
// Works with any trace, also with hostile ones: an event that makes no sense (a free of nothing)
// changes nothing. Copies are independent: keep one as a checkpoint.
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
  uint64_t active_bytes = 0;     // and those that a stream still uses
  uint64_t reserved_bytes = 0;   // segments
  uint64_t blocks = 0;           // allocated
  uint64_t outside_bytes = 0;    // segments
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
  };
  const std::map<uint64_t, LiveSegment>& segments() const { return segments_; }

  // Segments and blocks by address, gaps as inactive blocks. A block that lies in no segment, or
  // overlaps the one before it, is left out.
  HeapLayout layout() const;

 private:
  void start_from(const DeviceTrace& trace, const HeapLayout& final_layout);
  void open_block(uint64_t address, const LiveBlock& block);
  void close_block(uint64_t address);
  void request_free(uint64_t address);
  void add_segment(uint64_t address, const LiveSegment& segment);
  void remove_segment(uint64_t address);
  void map_range(uint64_t address, const LiveSegment& range);
  void unmap_range(uint64_t address, uint64_t size);
  uint64_t& bytes_of(const LiveSegment& segment);

  AddressMap<LiveBlock> blocks_;
  std::map<uint64_t, LiveSegment> segments_;
  HeapCounters counters_;
};

}  // namespace vramscope
