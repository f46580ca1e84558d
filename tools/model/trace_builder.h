// Writes one device's trace, and keeps it consistent while it grows: PyTorch's viewer throws, or
// draws wrong peaks, where a recording has holes.
//
// Whatever was lost, in the trace every block lies in a live segment, is closed before its address
// is handed out again and before its segment goes; a free without an allocation is left out.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "tools/model/heap.h"
#include "tools/model/recording.h"

namespace vramscope {

class TraceBuilder {
 public:
  // `may_have_holes`: events were lost. Then what overlaps something older closes it, which a
  // complete recording need not pay for.
  TraceBuilder(int device, bool may_have_holes);
  TraceBuilder(const TraceBuilder&) = delete;

  // All take an event whose address, size, stream, stack, time, thread, owner and `outside` are
  // set; the action is set here.

  void segment_alloc(TraceEvent event);
  void segment_free(TraceEvent event);  // size and owner are the segment's
  void segment_map(TraceEvent event);
  void segment_unmap(TraceEvent event);
  void alloc(TraceEvent event);
  void free(TraceEvent event);  // size and stream are the block's
  // The same in two steps, where a stream still uses the block.
  void request_free(TraceEvent event);
  void complete_free(TraceEvent event);
  void oom(TraceEvent event);  // address: the device's free bytes

  const Heap& heap() const { return heap_; }
  size_t event_count() const { return trace_.events.size(); }
  uint64_t repairs() const { return repairs_; }

  // The trace; the builder is of no use afterwards.
  DeviceTrace take() { return std::move(trace_); }

 private:
  void emit(TraceEvent event, Action action);
  bool close_block(uint64_t address, TraceEvent cause);
  bool describe_block(TraceEvent& event) const;
  void close_blocks_in(const TraceEvent& range);
  void close_segments_in(const TraceEvent& range);
  void cover(const TraceEvent& block);

  const bool may_have_holes_;
  DeviceTrace trace_;
  Heap heap_;
  std::map<uint64_t, uint64_t>
      block_lasts_;          // last bytes of live blocks by address, if there may be holes
  AddressMap<char> covers_;  // segments made up by cover()
  uint64_t repairs_ = 0;
};

}  // namespace vramscope
