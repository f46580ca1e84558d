// Hand-worked traces: every expected number was added up on paper.
#include <gtest/gtest.h>

#include "tools/model/heap_history.h"

namespace vramscope {
namespace {

TraceEvent event(Action action, uint64_t address, uint64_t size) {
  TraceEvent made;
  made.action = action;
  made.address = address;
  made.size = size;
  return made;
}

Heap heap_after(const DeviceTrace& trace) { return heap_after(trace, trace.events.size()); }

using Range = std::pair<uint64_t, uint64_t>;

std::vector<Range> segments_of(const Heap& heap) {
  std::vector<Range> ranges;
  for (const auto& [address, segment] : heap.segments()) ranges.emplace_back(address, segment.size);
  return ranges;
}

TEST(Heap, CountsBlocksAndSegments) {
  DeviceTrace trace;
  trace.events = {event(Action::kSegmentAlloc, 0x1000, 4096), event(Action::kAlloc, 0x1000, 1024),
                  event(Action::kAlloc, 0x1800, 512), event(Action::kFreeRequested, 0x1000, 1024)};
  const Heap heap = heap_after(trace);
  EXPECT_EQ(heap.counters().reserved_bytes, 4096u);
  EXPECT_EQ(heap.counters().allocated_bytes, 512u);
  EXPECT_EQ(heap.counters().active_bytes, 1536u);  // a stream still uses the first block
  EXPECT_EQ(heap.counters().blocks, 1u);
}

TEST(Heap, KeepsOutsideMemoryApart) {
  TraceEvent segment = event(Action::kSegmentAlloc, 0x9000, 8192);
  TraceEvent block = event(Action::kAlloc, 0x9000, 8192);
  segment.outside = block.outside = true;
  DeviceTrace trace;
  trace.events = {event(Action::kSegmentAlloc, 0x1000, 4096), event(Action::kAlloc, 0x1000, 1024),
                  segment, block};
  const Heap heap = heap_after(trace);
  EXPECT_EQ(heap.counters().reserved_bytes, 4096u);
  EXPECT_EQ(heap.counters().outside_bytes, 8192u);
  EXPECT_EQ(heap.counters().allocated_bytes, 1024u);
}

TEST(Heap, LayoutFillsGapsWithInactiveBlocks) {
  DeviceTrace trace;
  trace.events = {event(Action::kSegmentAlloc, 0x1000, 4096), event(Action::kAlloc, 0x1200, 512),
                  event(Action::kAlloc, 0x1400, 1024), event(Action::kAlloc, 0x1a00, 512),
                  event(Action::kFreeRequested, 0x1400, 1024)};
  const HeapLayout layout = heap_after(trace).layout();
  ASSERT_EQ(layout.segments.size(), 1u);
  ASSERT_EQ(layout.segments[0].block_count, 6u);
  struct Expected {
    uint64_t address, size;
    BlockState state;
  };
  const Expected expected[] = {
      {0x1000, 0x200, BlockState::kInactive},    {0x1200, 0x200, BlockState::kActive},
      {0x1400, 0x400, BlockState::kPendingFree}, {0x1800, 0x200, BlockState::kInactive},
      {0x1a00, 0x200, BlockState::kActive},      {0x1c00, 0x400, BlockState::kInactive}};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(layout.blocks[i].address, expected[i].address) << i;
    EXPECT_EQ(layout.blocks[i].size, expected[i].size) << i;
    EXPECT_EQ(layout.blocks[i].state, expected[i].state) << i;
  }
}

TEST(Heap, MappedRangesJoinAndSplit) {
  DeviceTrace trace;
  trace.events = {event(Action::kSegmentMap, 0x10000, 0x1000),
                  event(Action::kSegmentMap, 0x12000, 0x1000),
                  event(Action::kSegmentMap, 0x11000, 0x1000)};
  EXPECT_EQ(segments_of(heap_after(trace)), (std::vector<Range>{{0x10000, 0x3000}}));
  trace.events.push_back(event(Action::kSegmentUnmap, 0x10800, 0x1000));
  const Heap heap = heap_after(trace);
  EXPECT_EQ(segments_of(heap), (std::vector<Range>{{0x10000, 0x800}, {0x11800, 0x1800}}));
  EXPECT_EQ(heap.counters().reserved_bytes, 0x2000u);
  EXPECT_TRUE(heap.segments().begin()->second.is_expandable);
}

TEST(Heap, MappedRangesOfDifferentStreamsStayApart) {
  TraceEvent second = event(Action::kSegmentMap, 0x11000, 0x1000);
  second.stream = 7;
  DeviceTrace trace;
  trace.events = {event(Action::kSegmentMap, 0x10000, 0x1000), second};
  EXPECT_EQ(segments_of(heap_after(trace)),
            (std::vector<Range>{{0x10000, 0x1000}, {0x11000, 0x1000}}));
}

// The recording began late: a block is freed that was never allocated, another one lives at the
// end, a segment is freed that was never allocated.
TEST(Heap, FindsWhatLivedBeforeTheFirstEvent) {
  DeviceTrace trace;
  trace.events = {event(Action::kFreeRequested, 0x1000, 700),
                  event(Action::kFreeCompleted, 0x1000, 700),
                  event(Action::kSegmentFree, 0x1000, 4096),
                  event(Action::kSegmentAlloc, 0x20000, 8192), event(Action::kAlloc, 0x20000, 300)};
  HeapLayout& end = trace.final_layout.emplace();
  end.blocks = {{0x8000, 512, 500, BlockState::kActive},
                {0x8200, 0xe00, 0, BlockState::kInactive},
                {0x20000, 512, 300, BlockState::kActive},
                {0x20200, 0x1e00, 0, BlockState::kInactive}};
  end.segments.resize(2);
  end.segments[0].address = 0x8000;
  end.segments[0].size = 4096;
  end.segments[0].block_count = 2;
  end.segments[1].address = 0x20000;
  end.segments[1].size = 8192;
  end.segments[1].first_block = 2;
  end.segments[1].block_count = 2;

  const Heap before(trace);
  EXPECT_EQ(before.counters().allocated_bytes, 1200u);  // 700 + 500
  EXPECT_EQ(before.counters().reserved_bytes, 8192u);   // 0x8000 and the freed one
  const Heap after = heap_after(trace);
  EXPECT_EQ(after.counters().allocated_bytes, 800u);  // 500 + 300
  EXPECT_EQ(after.counters().reserved_bytes, 12288u);
  EXPECT_EQ(after.counters().blocks, 2u);
}

// As PyTorch's viewer has it: where only the completion of a free is in the trace, the block was
// pending at its beginning; where the request is, it was allocated.
TEST(Heap, FindsWhichFreesWerePendingBeforeTheFirstEvent) {
  DeviceTrace trace;
  trace.events = {event(Action::kFreeCompleted, 0x1000, 512),
                  event(Action::kFreeRequested, 0x1400, 1024)};
  HeapLayout& end = trace.final_layout.emplace();
  end.blocks = {{0x1000, 0x400, 0, BlockState::kInactive},
                {0x1400, 1024, 1024, BlockState::kPendingFree},
                {0x1800, 2048, 2000, BlockState::kPendingFree}};
  end.segments.resize(1);
  end.segments[0].address = 0x1000;
  end.segments[0].size = 4096;
  end.segments[0].block_count = 3;

  const Heap before(trace);
  EXPECT_EQ(before.counters().active_bytes, 512u + 1024u + 2000u);
  EXPECT_EQ(before.counters().allocated_bytes, 1024u);
  EXPECT_EQ(before.counters().pending_free_bytes(), 512u + 2000u);
  EXPECT_EQ(before.counters().active_blocks, 3u);
  EXPECT_EQ(before.counters().segments, 1u);
  const Heap after = heap_after(trace);
  EXPECT_EQ(after.counters().allocated_bytes, 0u);
  EXPECT_EQ(after.counters().pending_free_bytes(), 1024u + 2000u);
}

TEST(Heap, IgnoresWhatMakesNoSense) {
  DeviceTrace trace;
  trace.events = {event(Action::kFreeRequested, 1, 1),
                  event(Action::kFreeCompleted, 2, 2),
                  event(Action::kSegmentFree, 3, 3),
                  event(Action::kSegmentUnmap, 0, UINT64_MAX),
                  event(Action::kSegmentMap, UINT64_MAX - 1, 100),
                  event(Action::kSegmentUnmap, 0, UINT64_MAX),
                  event(Action::kAlloc, UINT64_MAX, 10),
                  event(Action::kAlloc, UINT64_MAX, 20),
                  event(Action::kOom, 0, 5),
                  event(Action::kSnapshot, 0, 0)};
  const Heap heap = heap_after(trace);
  EXPECT_EQ(heap.counters().allocated_bytes, 20u);  // the second alloc closed the first one
  EXPECT_EQ(heap.counters().blocks, 1u);
  heap.layout();
}

}  // namespace
}  // namespace vramscope
