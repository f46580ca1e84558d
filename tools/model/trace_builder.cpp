#include "tools/model/trace_builder.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace vramscope {
namespace {

// The last byte of a range that is not empty; ranges of hostile recordings end with the addresses.
uint64_t last_of(uint64_t address, uint64_t size) {
  return size - 1 > std::numeric_limits<uint64_t>::max() - address
             ? std::numeric_limits<uint64_t>::max()
             : address + (size - 1);
}

// The part of `event`'s range that lies in the range of `other`, which overlaps it.
TraceEvent intersection(TraceEvent event, const TraceEvent& other) {
  const uint64_t begin = std::max(event.address, other.address);
  const uint64_t last =
      std::min(last_of(event.address, event.size), last_of(other.address, other.size));
  event.address = begin;
  event.size = last - begin + 1;
  return event;
}

}  // namespace

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
  if (event.size == 0) return;
  if (may_have_holes_ || heap_.segments().contains(event.address)) close_segments_in(event);
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
  if (may_have_holes_) close_blocks_in(event);
  emit(event, Action::kSegmentFree);
}

void TraceBuilder::segment_map(TraceEvent event) {
  if (event.size == 0) return;
  if (may_have_holes_) close_segments_in(event);
  emit(event, Action::kSegmentMap);
}

void TraceBuilder::segment_unmap(TraceEvent event) {
  if (may_have_holes_) close_blocks_in(event);
  emit(event, Action::kSegmentUnmap);
}

void TraceBuilder::alloc(TraceEvent event) {
  if (event.size == 0) return;
  if (event.requested_bytes == 0) event.requested_bytes = event.size;
  if (may_have_holes_) close_blocks_in(event);
  if (close_block(event.address, event)) ++repairs_;
  cover(event);
  if (may_have_holes_) block_lasts_[event.address] = last_of(event.address, event.size);
  emit(event, Action::kAlloc);
}

void TraceBuilder::free(TraceEvent event) {
  if (!close_block(event.address, event)) {
    ++repairs_;
    return;
  }
  if (covers_.erase(event.address)) segment_free(event);
}

void TraceBuilder::request_free(TraceEvent event) {
  if (describe_block(event)) emit(event, Action::kFreeRequested);
}

void TraceBuilder::complete_free(TraceEvent event) { close_block(event.address, event); }

void TraceBuilder::oom(TraceEvent event) { emit(event, Action::kOom); }

// Sizes and stream of the block at the event's address.
bool TraceBuilder::describe_block(TraceEvent& event) const {
  const Heap::LiveBlock* block = heap_.blocks().find(event.address);
  if (block == nullptr) return false;
  event.size = block->size;
  event.requested_bytes = block->requested_bytes;
  event.stream = block->stream;  // not the one that is current where it is freed
  event.outside = block->outside;
  return true;
}

bool TraceBuilder::close_block(uint64_t address, TraceEvent cause) {
  cause.address = address;
  if (!describe_block(cause)) return false;
  if (!heap_.blocks().find(address)->pending_free) emit(cause, Action::kFreeRequested);
  emit(cause, Action::kFreeCompleted);
  block_lasts_.erase(address);
  return true;
}

// Frees of blocks in the range were lost.
void TraceBuilder::close_blocks_in(const TraceEvent& range) {
  auto block = block_lasts_.lower_bound(range.address);
  if (block != block_lasts_.begin() && std::prev(block)->second >= range.address) --block;
  while (block != block_lasts_.end() &&
         (block->first < range.address || block->first - range.address < range.size)) {
    const uint64_t address = block->first;
    ++block;
    close_block(address, range);
    ++repairs_;
  }
}

// Frees of segments in the range were lost.
void TraceBuilder::close_segments_in(const TraceEvent& range) {
  const auto& segments = heap_.segments();
  auto segment = segments.lower_bound(range.address);
  if (segment != segments.begin()) {
    const auto before = std::prev(segment);
    if (range.address - before->first < before->second.size) segment = before;
  }
  while (segment != segments.end() &&
         (segment->first < range.address || segment->first - range.address < range.size)) {
    const uint64_t begin = segment->first;
    TraceEvent lost = range;
    lost.address = begin;
    lost.size = segment->second.size;
    if (segment->second.is_expandable) {  // of a mapped range only what is mapped anew
      lost = intersection(lost, range);
      segment_unmap(lost);
    } else {
      covers_.erase(lost.address);
      segment_free(lost);
    }
    ++repairs_;
    segment = segments.upper_bound(begin);  // what follows may have changed too
  }
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
