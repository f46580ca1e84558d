#include "tools/model/heap.h"

#include <algorithm>
#include <limits>

namespace vramscope {
namespace {

// Blocks below 1 MiB come from segments of 2 MiB, "small" ones.
constexpr uint64_t kSmallSegmentBytes = 2 << 20;

uint64_t end_of(uint64_t address, uint64_t size) {
  return size > std::numeric_limits<uint64_t>::max() - address
             ? std::numeric_limits<uint64_t>::max()
             : address + size;
}

Heap::LiveBlock block_of(const TraceEvent& event) {
  return {event.size, event.requested_bytes, event.stream, event.stack, event.category,
          false,      event.outside};
}

Heap::LiveSegment segment_of(const TraceEvent& event) {
  return {event.size, event.stream, {}, event.stack, event.owner, event.outside, false};
}

}  // namespace

Heap::Heap(const DeviceTrace& trace) {
  if (!trace.final_layout) return;
  add_all(*trace.final_layout);
  for (size_t i = trace.events.size(); i-- > 0;) undo(trace.events[i]);
}

// Sizes of blocks are what was asked for, as in the events of a pickle.
void Heap::add_all(const HeapLayout& layout) {
  for (const Segment& segment : layout.segments) {
    add_segment(segment.address, {segment.size, segment.stream, segment.pool, segment.stack,
                                  segment.owner, segment.outside, segment.is_expandable});
    for (size_t i = 0; i < segment.block_count; ++i) {
      const Block& block = layout.blocks[segment.first_block + i];
      if (block.state == BlockState::kInactive) continue;
      open_block(block.address, {block.requested_bytes, block.requested_bytes, segment.stream,
                                 block.stack, 0, false, segment.outside});
      if (block.state == BlockState::kPendingFree) request_free(block.address);
    }
  }
}

void Heap::apply(const TraceEvent& event) {
  switch (event.action) {
    case Action::kAlloc:
      return open_block(event.address, block_of(event));
    case Action::kFreeRequested:
      return request_free(event.address);
    case Action::kFreeCompleted:
      return close_block(event.address);
    case Action::kSegmentAlloc:
      return add_segment(event.address, segment_of(event));
    case Action::kSegmentFree:
      return remove_segment(event.address);
    case Action::kSegmentMap:
      return map_range(event.address, segment_of(event));
    case Action::kSegmentUnmap:
      return unmap_range(event.address, event.size);
    case Action::kOom:
    case Action::kSnapshot:
      return;
  }
}

// Twin of apply().
void Heap::undo(const TraceEvent& event) {
  switch (event.action) {
    case Action::kAlloc:
      return close_block(event.address);
    case Action::kFreeRequested:
      return withdraw_free(event.address);
    case Action::kFreeCompleted:
      open_block(event.address, block_of(event));
      return request_free(event.address);
    case Action::kSegmentAlloc:
      return remove_segment(event.address);
    case Action::kSegmentFree:
      return add_segment(event.address, segment_of(event));
    case Action::kSegmentMap:
      return unmap_range(event.address, event.size);
    case Action::kSegmentUnmap:
      return map_range(event.address, segment_of(event));
    case Action::kOom:
    case Action::kSnapshot:
      return;
  }
}

void Heap::open_block(uint64_t address, const LiveBlock& block) {
  close_block(address);  // a hole in the recording: its free was lost
  blocks_.insert(address, block);
  if (block.outside) return;
  counters_.allocated_bytes += block.size;
  counters_.active_bytes += block.size;
  counters_.requested_bytes += block.requested_bytes;
  ++counters_.blocks;
  ++counters_.active_blocks;
}

void Heap::request_free(uint64_t address) {
  LiveBlock* block = blocks_.find(address);
  if (block == nullptr || block->pending_free) return;
  block->pending_free = true;
  if (block->outside) return;
  counters_.allocated_bytes -= block->size;
  --counters_.blocks;
}

void Heap::withdraw_free(uint64_t address) {
  LiveBlock* block = blocks_.find(address);
  if (block == nullptr || !block->pending_free) return;
  block->pending_free = false;
  if (block->outside) return;
  counters_.allocated_bytes += block->size;
  ++counters_.blocks;
}

void Heap::close_block(uint64_t address) {
  request_free(address);
  const LiveBlock* block = blocks_.find(address);
  if (block == nullptr) return;
  if (!block->outside) {
    counters_.active_bytes -= block->size;
    counters_.requested_bytes -= block->requested_bytes;
    --counters_.active_blocks;
  }
  blocks_.erase(address);
}

void Heap::count(const LiveSegment& segment, bool is_new) {
  uint64_t& bytes = segment.outside ? counters_.outside_bytes : counters_.reserved_bytes;
  bytes += is_new ? segment.size : -segment.size;
  if (!segment.outside) counters_.segments += is_new ? 1 : -uint64_t{1};
}

void Heap::add_segment(uint64_t address, const LiveSegment& segment) {
  remove_segment(address);
  segments_.emplace(address, segment);
  count(segment, true);
}

void Heap::remove_segment(uint64_t address) {
  const auto found = segments_.find(address);
  if (found == segments_.end()) return;
  count(found->second, false);
  segments_.erase(found);
}

// PyTorch shows one segment per contiguous mapped range: a new range grows its neighbours.
void Heap::map_range(uint64_t address, const LiveSegment& range) {
  LiveSegment merged = range;
  merged.is_expandable = true;
  const auto joins = [&merged](const LiveSegment& other) {
    return other.is_expandable && other.outside == merged.outside && other.stream == merged.stream;
  };
  const auto after = segments_.find(end_of(address, range.size));
  if (after != segments_.end() && joins(after->second)) {
    merged.size += after->second.size;
    remove_segment(after->first);
  }
  auto before = segments_.lower_bound(address);
  if (before != segments_.begin()) {
    --before;
    if (end_of(before->first, before->second.size) == address && joins(before->second)) {
      const uint64_t begin = before->first;
      const uint64_t size = before->second.size + merged.size;
      merged = before->second;
      merged.size = size;
      return add_segment(begin, merged);
    }
  }
  add_segment(address, merged);
}

void Heap::unmap_range(uint64_t address, uint64_t size) {
  const uint64_t end = end_of(address, size);
  auto segment = segments_.upper_bound(address);
  if (segment != segments_.begin()) --segment;
  while (segment != segments_.end() && segment->first < end) {
    const uint64_t begin = segment->first;
    const LiveSegment old = segment->second;
    const uint64_t old_end = end_of(begin, old.size);
    if (old_end > address) {
      remove_segment(begin);
      LiveSegment rest = old;
      rest.size = address > begin ? address - begin : 0;
      if (rest.size > 0) add_segment(begin, rest);
      rest.size = old_end > end ? old_end - end : 0;
      if (rest.size > 0) add_segment(end, rest);  // may take the place of the next one
    }
    segment = segments_.upper_bound(begin);
  }
}

HeapLayout Heap::layout() const {
  std::vector<std::pair<uint64_t, const LiveBlock*>> sorted;
  sorted.reserve(blocks_.size());
  blocks_.for_each([&sorted](uint64_t address, const LiveBlock& block) {
    sorted.emplace_back(address, &block);
  });
  std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });

  HeapLayout layout;
  auto next = sorted.begin();
  for (const auto& [begin, live] : segments_) {
    const uint64_t end = end_of(begin, live.size);
    Segment segment{begin, live.size, live.stream, live.pool, live.stack, live.owner};
    segment.outside = live.outside;
    segment.is_large = live.size != kSmallSegmentBytes;
    segment.is_expandable = live.is_expandable;
    segment.first_block = layout.blocks.size();
    uint64_t filled = begin;
    while (next != sorted.end() && next->first < begin) ++next;
    for (; next != sorted.end() && next->first < end; ++next) {
      const auto& [address, block] = *next;
      if (address < filled || block->size > end - address || block->size == 0) continue;
      if (address > filled) layout.blocks.push_back({filled, address - filled});
      layout.blocks.push_back({address, block->size, block->requested_bytes,
                               block->pending_free ? BlockState::kPendingFree : BlockState::kActive,
                               block->stack});
      filled = address + block->size;
    }
    if (filled < end) layout.blocks.push_back({filled, end - filled});
    segment.block_count = layout.blocks.size() - segment.first_block;
    layout.segments.push_back(segment);
  }
  return layout;
}

size_t Heap::memory_bytes() const {
  constexpr size_t kTreeNodeBytes = 4 * sizeof(void*);  // what std::map adds to an element
  return sizeof *this + blocks_.memory_bytes() +
         segments_.size() * (sizeof(decltype(segments_)::value_type) + kTreeNodeBytes);
}

}  // namespace vramscope
