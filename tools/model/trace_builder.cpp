#include "tools/model/trace_builder.h"

namespace vramscope {

TraceBuilder::TraceBuilder(int device, bool may_have_holes)
    : may_have_holes_(may_have_holes), heap_(trace_) {
  trace_.device = device;
}

void TraceBuilder::emit(TraceEvent event, Action action) {
  event.action = action;
  trace_.events.push_back(event);
  heap_.apply(event);
}

void TraceBuilder::segment_alloc(TraceEvent event) {
  if (heap_.segments().contains(event.address)) {  // its free was lost
    ++repairs_;
    segment_free(event);
  }
  emit(event, Action::kSegmentAlloc);
}

void TraceBuilder::segment_free(TraceEvent event) {
  const auto segment = heap_.segments().find(event.address);
  if (segment == heap_.segments().end()) {
    ++repairs_;
    return;
  }
  event.size = segment->second.size;
  event.stream = segment->second.stream;
  event.owner = segment->second.owner;
  event.outside = segment->second.outside;
  if (may_have_holes_) close_blocks(event.address, event.address + event.size, event);
  emit(event, Action::kSegmentFree);
}

void TraceBuilder::segment_map(TraceEvent event) { emit(event, Action::kSegmentMap); }

void TraceBuilder::segment_unmap(TraceEvent event) {
  if (may_have_holes_) close_blocks(event.address, event.address + event.size, event);
  emit(event, Action::kSegmentUnmap);
}

void TraceBuilder::alloc(TraceEvent event) {
  if (close_block(event.address, event)) ++repairs_;
  cover(event);
  emit(event, Action::kAlloc);
}

void TraceBuilder::free(TraceEvent event) {
  if (!close_block(event.address, event)) {
    ++repairs_;
    return;
  }
  if (covers_.erase(event.address)) segment_free(event);
}

void TraceBuilder::oom(TraceEvent event) { emit(event, Action::kOom); }

// The hooks see when a free is requested, not when the last stream is done with the block: both
// halves stand together, as they do in most of PyTorch's own traces.
bool TraceBuilder::close_block(uint64_t address, TraceEvent cause) {
  const Heap::LiveBlock* block = heap_.blocks().find(address);
  if (block == nullptr) return false;
  cause.address = address;
  cause.size = block->size;
  cause.outside = block->outside;
  emit(cause, Action::kFreeRequested);
  emit(cause, Action::kFreeCompleted);
  return true;
}

void TraceBuilder::close_blocks(uint64_t begin, uint64_t end, const TraceEvent& cause) {
  std::vector<uint64_t> left;
  heap_.blocks().for_each([&](uint64_t address, const Heap::LiveBlock&) {
    if (begin <= address && address < end) left.push_back(address);
  });
  for (const uint64_t address : left) close_block(address, cause);
  repairs_ += left.size();
}

// A block whose segment the recording does not know gets one of its own.
void TraceBuilder::cover(const TraceEvent& block) {
  const auto& segments = heap_.segments();
  auto segment = segments.upper_bound(block.address);
  if (segment != segments.begin()) {
    --segment;
    if (block.address - segment->first < segment->second.size) return;
  }
  ++repairs_;
  TraceEvent made = block;
  made.owner = 0;
  segment_alloc(made);
  covers_.insert(block.address, 0);
}

}  // namespace vramscope
