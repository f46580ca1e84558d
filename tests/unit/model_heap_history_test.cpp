// Random access must give what a walk from the beginning gives, at any event and with any memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tools/model/heap_history.h"

namespace vramscope {
namespace {

constexpr uint64_t kPlaceBytes = 4096;
constexpr uint64_t kPlacesOfSegment = 64;
constexpr uint64_t kExpandable = 1ULL << 40;

// Blocks, pending frees, segments and mapped ranges come and go at random.
class RandomTrace {
 public:
  DeviceTrace make(size_t events) {
    while (trace_.events.size() < events) add_some();
    return std::move(trace_);
  }

 private:
  uint64_t below(uint64_t end) {
    return std::uniform_int_distribution<uint64_t>(0, end - 1)(bits_);
  }

  void add(Action action, uint64_t address, uint64_t size) {
    TraceEvent event;
    event.action = action;
    event.address = address;
    event.size = size;
    event.requested_bytes = size / 2;
    event.stream = below(2);
    event.stack = static_cast<StackId>(below(9));
    event.outside = address / kPlaceBytes / kPlacesOfSegment % 5 == 0;
    trace_.events.push_back(event);
  }

  void add_some() {
    const uint64_t place = below(40 * kPlacesOfSegment) * kPlaceBytes;
    const uint64_t segment = place - place % (kPlacesOfSegment * kPlaceBytes);
    const uint64_t page = kExpandable + below(64) * kPlaceBytes;
    switch (below(12)) {
      case 0:
        return add(Action::kSegmentAlloc, segment, kPlacesOfSegment * kPlaceBytes);
      case 1:
        return add(Action::kSegmentFree, segment, kPlacesOfSegment * kPlaceBytes);
      case 2:
        return add(Action::kSegmentMap, page, kPlaceBytes);
      case 3:
        return add(Action::kSegmentUnmap, page, kPlaceBytes);
      case 4:
      case 5:
        return add(Action::kFreeRequested, place, kPlaceBytes);
      case 6:
      case 7:
        return add(Action::kFreeCompleted, place, kPlaceBytes);
      default:
        return add(Action::kAlloc, place, kPlaceBytes / (1 + below(4)));
    }
  }

  std::mt19937_64 bits_{20261201};
  DeviceTrace trace_;
};

void expect_same(const Heap& heap, const Heap& walked, size_t at) {
  EXPECT_EQ(heap.counters(), walked.counters()) << at;
  EXPECT_EQ(heap.segments(), walked.segments()) << at;
  ASSERT_EQ(heap.blocks().size(), walked.blocks().size()) << at;
  walked.blocks().for_each([&](uint64_t address, const Heap::LiveBlock& block) {
    const Heap::LiveBlock* found = heap.blocks().find(address);
    ASSERT_NE(found, nullptr) << at;
    EXPECT_EQ(*found, block) << at;
  });
}

void expect_random_access(const DeviceTrace& trace, const HeapHistory& history) {
  std::mt19937_64 bits(7);
  std::vector<size_t> moments = {
      0, 1, history.spacing() - 1, history.spacing(), history.spacing() + 1, trace.events.size()};
  for (size_t& moment : moments) moment = std::min(moment, trace.events.size());
  for (int i = 0; i < 60; ++i) moments.push_back(bits() % trace.events.size());
  std::ranges::sort(moments);
  Heap walked(trace);
  size_t done = 0;
  for (const size_t moment : moments) {
    for (; done < moment; ++done) walked.apply(trace.events[done]);
    expect_same(history.after(moment), walked, moment);
  }
}

TEST(HeapHistory, GivesWhatAWalkGives) {
  const DeviceTrace trace = RandomTrace().make(50'000);
  const HeapHistory history(trace);
  EXPECT_EQ(history.spacing(), HeapHistory::kFirstSpacing);
  EXPECT_EQ(history.checkpoints(), 13u);  // 0, 4096 ... 49152
  expect_random_access(trace, history);
}

TEST(HeapHistory, KeepsFewerCheckpointsInLittleMemory) {
  const DeviceTrace trace = RandomTrace().make(100'000);
  const size_t heap_bytes = heap_after(trace, trace.events.size()).memory_bytes();
  const HeapHistory history(trace, 6 * heap_bytes);
  EXPECT_GT(history.spacing(), HeapHistory::kFirstSpacing);
  EXPECT_LE(history.checkpoints(), 7u);  // the first one is smaller
  EXPECT_GE(history.checkpoints(), 3u);
  expect_random_access(trace, history);
}

TEST(HeapHistory, NoMemoryLeavesTheFirstCheckpoint) {
  const DeviceTrace trace = RandomTrace().make(10'000);
  const HeapHistory history(trace, 0);
  EXPECT_EQ(history.checkpoints(), 1u);
  expect_random_access(trace, history);
}

TEST(HeapHistory, BeginsWithWhatLivedBefore) {
  DeviceTrace trace = RandomTrace().make(20'000);
  trace.final_layout = heap_after(trace, trace.events.size()).layout();
  const HeapHistory history(trace);
  EXPECT_EQ(history.after(0).counters(), Heap(trace).counters());
  expect_random_access(trace, history);
}

TEST(HeapHistory, BehindTheEndIsTheEnd) {
  const DeviceTrace trace = RandomTrace().make(5'000);
  expect_same(HeapHistory(trace).after(SIZE_MAX), heap_after(trace, 5'000), 5'000);
  EXPECT_EQ(HeapHistory(DeviceTrace()).after(3).counters(), HeapCounters());
}

}  // namespace
}  // namespace vramscope
