// Sessions made by hand; the expected traces were written down beside the rules in
// session_recording.h.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/model_session_builder.h"
#include "tools/model/heap.h"
#include "tools/model/session_recording.h"

namespace vramscope {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr auto kByPyTorch = SessionBuilder::kFromPyTorch;
constexpr auto kByNccl = SessionBuilder::kFromNccl;
constexpr auto kByProgram = SessionBuilder::kFromProgram;

std::vector<std::string> lines_of(const ProcessRecording& process, size_t device = 0) {
  std::vector<std::string> lines;
  for (const TraceEvent event : process.devices.at(device).events) {
    char line[128];
    std::snprintf(line, sizeof line, "%s 0x%llx %llu%s%s", action_name(event.action),
                  static_cast<unsigned long long>(event.address),
                  static_cast<unsigned long long>(event.size), event.outside ? " outside " : "",
                  event.outside ? std::string(process.strings.at(event.owner)).c_str() : "");
    lines.emplace_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(SessionRecording, DriverCallsAreSegmentsAndTheFrameworksBlocksLieInThem) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 512, 512, 4096);
  made.block(RecordKind::kBlockAlloc, 0x10200, 1024, 1536, 4096);
  made.block(RecordKind::kBlockFree, 0x10000, 512, 1024, 4096);
  made.block(RecordKind::kBlockFree, 0x10200, 1024, 0, 4096);
  made.add(RecordKind::kDeviceFree, 0x10000, 0);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process),
            (Lines{"segment_alloc 0x10000 4096", "alloc 0x10000 512", "alloc 0x10200 1024",
                   "free_requested 0x10000 512", "free_completed 0x10000 512",
                   "free_requested 0x10200 1024", "free_completed 0x10200 1024",
                   "segment_free 0x10000 4096"}));
  EXPECT_EQ(process->counters.compared, 4u);
  EXPECT_EQ(process->counters.differences, 0u);
  EXPECT_EQ(process->repairs, 0u);
  EXPECT_EQ(process->pid, 4711);
  const TraceEvent segment = process->devices[0].events[0];
  EXPECT_EQ(process->strings.at(segment.owner), "PyTorch");
  EXPECT_EQ(segment.time_us, 1'000'001);
  EXPECT_EQ(segment.thread, 100u);
}

// PyTorch reports a free with the stream that is current then; its own trace has the block's.
TEST(SessionRecording, StreamsAreThoseOfTheBlocks) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.add(RecordKind::kBlockAlloc, 0x10000, 512).stream = 0x77;
  made.add(RecordKind::kBlockFree, 0x10000, 512).stream = 0x99;
  made.add(RecordKind::kDeviceFree, 0x10000, 0, kByPyTorch);
  const auto process = recording_of_session(made.session);
  ASSERT_EQ(process->devices[0].events.size(), 5u);
  for (const TraceEvent event : process->devices[0].events) EXPECT_EQ(event.stream, 0x77u);
}

TEST(SessionRecording, SegmentsAreKnownByTheirBlocksWhereNativeStacksAreOff) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096);
  made.block(RecordKind::kBlockAlloc, 0x10200, 512, 512, 4096);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"segment_alloc 0x10000 4096", "alloc 0x10200 512"}));
  EXPECT_EQ(process->strings.at(process->devices[0].events[0].owner), "PyTorch");
}

TEST(SessionRecording, WithoutBlocksTheDriversAllocationsAreTheBlocks) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByProgram);
  made.add(RecordKind::kAsyncAlloc, 0x20000, 600, kByProgram).stream = 5;
  made.add(RecordKind::kManagedAlloc, 0x30000, 100, kByProgram);
  made.add(RecordKind::kAsyncFree, 0x20000, 0);
  made.add(RecordKind::kDeviceFree, 0x10000, 0);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process),
            (Lines{"segment_alloc 0x10000 4096", "alloc 0x10000 4096", "segment_alloc 0x20000 600",
                   "alloc 0x20000 600", "segment_alloc 0x30000 100", "alloc 0x30000 100",
                   "free_requested 0x20000 600", "free_completed 0x20000 600",
                   "segment_free 0x20000 600", "free_requested 0x10000 4096",
                   "free_completed 0x10000 4096", "segment_free 0x10000 4096"}));
}

TEST(SessionRecording, OtherLibrariesMemoryStandsBesideTheFrameworks) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 512, 512, 4096);
  made.add(RecordKind::kDeviceAlloc, 0x90000, 8192, kByNccl);
  made.block(RecordKind::kBlockAlloc, 0x10200, 512, 1024, 4096);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"segment_alloc 0x10000 4096", "alloc 0x10000 512",
                                       "segment_alloc 0x90000 8192 outside NCCL",
                                       "alloc 0x90000 8192 outside NCCL", "alloc 0x10200 512"}));
  EXPECT_EQ(process->counters.differences, 0u);
}

TEST(SessionRecording, FailedCallsChangeNothing) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 512, 512, 4096);
  made.add(RecordKind::kDeviceAlloc, 0, 1 << 30, kByPyTorch).result = 2;  // PyTorch tries again
  made.add(RecordKind::kBlockOom, 0, 1 << 30);
  made.add(RecordKind::kDeviceAlloc, 0, 7000, kByNccl).result = 2;
  made.add(RecordKind::kDeviceFree, 0x10000, 0).result = 1;
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"segment_alloc 0x10000 4096", "alloc 0x10000 512",
                                       "oom 0x0 1073741824", "oom 0x0 7000"}));
}

TEST(SessionRecording, DevicesHaveTracesOfTheirOwn) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByProgram);
  made.add(RecordKind::kDeviceAlloc, 0x20000, 8192, kByProgram).device = 3;
  made.add(RecordKind::kDeviceFree, 0x20000, 0).device = kNoDevice;
  const auto process = recording_of_session(made.session);
  ASSERT_EQ(process->devices.size(), 2u);
  EXPECT_EQ(process->devices[1].device, 3);
  EXPECT_EQ(lines_of(*process, 0).size(), 2u);
  EXPECT_EQ(lines_of(*process, 1).back(), "segment_free 0x20000 8192");
}

// PyTorch's expandable segments: one handle per 2 MiB, all created, all mapped, then access.
class ExpandableSegment : public testing::Test {
 protected:
  void map(std::initializer_list<uint64_t> handles) {
    for (const uint64_t handle : handles)
      made.add(RecordKind::kPhysicalCreate, 0, 2 * kMiB, kByPyTorch).handle = 100 + handle;
    for (const uint64_t handle : handles)
      made.add(RecordKind::kMap, kBase + 2 * kMiB * handle, 2 * kMiB, kByPyTorch).handle =
          100 + handle;
    made.add(RecordKind::kSetAccess, kBase, 2 * kMiB, kByPyTorch);
  }
  void unmap(uint64_t handle) {
    made.add(RecordKind::kUnmap, kBase + 2 * kMiB * handle, 2 * kMiB, kByPyTorch).device =
        kNoDevice;
    made.add(RecordKind::kPhysicalRelease, 0, 0, kByPyTorch).handle = 100 + handle;
  }
  static constexpr uint64_t kBase = 0x100000000;
  SessionBuilder made;
};

TEST_F(ExpandableSegment, IsOneEventPerRange) {
  made.add(RecordKind::kAddressReserve, kBase, 1024 * kMiB, kByPyTorch);
  map({0, 1, 2});
  made.block(RecordKind::kBlockAlloc, kBase, 5 * kMiB, 5 * kMiB, 6 * kMiB);
  map({3});
  made.block(RecordKind::kBlockAlloc, kBase + 5 * kMiB, 3 * kMiB, 8 * kMiB, 8 * kMiB);
  made.block(RecordKind::kBlockFree, kBase + 5 * kMiB, 3 * kMiB, 5 * kMiB, 8 * kMiB);
  unmap(3);
  made.block(RecordKind::kBlockFree, kBase, 5 * kMiB, 0, 6 * kMiB);
  unmap(0);
  unmap(1);
  unmap(2);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process),
            (Lines{"segment_map 0x100000000 6291456", "alloc 0x100000000 5242880",
                   "segment_map 0x100600000 2097152", "alloc 0x100500000 3145728",
                   "free_requested 0x100500000 3145728", "free_completed 0x100500000 3145728",
                   "segment_unmap 0x100600000 2097152", "free_requested 0x100000000 5242880",
                   "free_completed 0x100000000 5242880", "segment_unmap 0x100000000 6291456"}));
  EXPECT_EQ(process->counters.differences, 0u);
  EXPECT_EQ(process->repairs, 0u);
}

TEST_F(ExpandableSegment, OfAnotherLibraryIsABlockPerMapping) {
  made.add(RecordKind::kAddressReserve, kBase, 1024 * kMiB, kByProgram);
  made.add(RecordKind::kPhysicalCreate, 0, 2 * kMiB, kByProgram).handle = 9;
  made.add(RecordKind::kMap, kBase, 2 * kMiB, kByProgram).handle = 9;
  made.add(RecordKind::kPhysicalCreate, 0, 2 * kMiB, kByProgram).handle = 10;
  made.add(RecordKind::kMap, kBase + 2 * kMiB, 2 * kMiB, kByProgram).handle = 10;
  made.add(RecordKind::kUnmap, kBase, 4 * kMiB, kByProgram);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process).size(), 10u);
  const HeapCounters end = [&] {
    Heap heap(process->devices[0]);
    for (const TraceEvent event : process->devices[0].events) heap.apply(event);
    return heap.counters();
  }();
  EXPECT_EQ(end.reserved_bytes, 0u);
  EXPECT_EQ(end.allocated_bytes, 0u);
}

TEST(SessionRecording, ForeignAndHostMemoryIsNotTheDevices) {
  SessionBuilder made;
  made.add(RecordKind::kAddressReserve, 0x100000, 8192, kByProgram);
  made.add(RecordKind::kImport, 0, 0).handle = 5;
  made.add(RecordKind::kMap, 0x100000, 4096, kByProgram).handle = 5;
  Event& host = made.add(RecordKind::kPhysicalCreate, 0, 4096, kByProgram);
  host.handle = 6;
  host.device = kNoDevice;
  made.add(RecordKind::kMap, 0x101000, 4096, kByProgram).handle = 6;
  made.add(RecordKind::kUnmap, 0x100000, 8192, kByProgram);
  made.add(RecordKind::kHostAlloc, 0x500000, 1000);
  made.add(RecordKind::kHostAlloc, 0x600000, 500);
  made.add(RecordKind::kHostFree, 0x500000, 0);
  made.add(RecordKind::kHostRegister, 0x700000, 300);
  const auto process = recording_of_session(made.session);
  EXPECT_TRUE(process->devices.empty());
}

TEST(SessionRecording, RepairsWhatHolesLeave) {
  SessionBuilder made;
  made.session.lost_events = 3;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 512, 512, 4096);
  made.block(RecordKind::kBlockAlloc, 0x10000, 1024, 1024, 4096);     // the free between was lost
  made.block(RecordKind::kBlockFree, 0x10800, 512, 1024, 4096);       // its allocation was lost
  made.block(RecordKind::kBlockAlloc, 0x70000, 512, 1536, 4096 * 2);  // its segment was lost
  made.add(RecordKind::kDeviceFree, 0x10000, 0);                      // the block's free was lost
  made.block(RecordKind::kBlockFree, 0x70000, 512, 0, 4096);
  made.add(RecordKind::kDeviceFree, 0x999000, 0);  // unknown
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(
      lines_of(*process),
      (Lines{"segment_alloc 0x10000 4096", "alloc 0x10000 512", "free_requested 0x10000 512",
             "free_completed 0x10000 512", "alloc 0x10000 1024", "segment_alloc 0x70000 512",
             "alloc 0x70000 512", "free_requested 0x10000 1024", "free_completed 0x10000 1024",
             "segment_free 0x10000 4096", "free_requested 0x70000 512",
             "free_completed 0x70000 512", "segment_free 0x70000 512"}));
  EXPECT_EQ(process->repairs, 5u);
  EXPECT_EQ(process->lost_events, 3u);
  // After the free of 0x10800: 1024 + 4096, as PyTorch counts. After 0x70000: ours is 3584 less.
  EXPECT_EQ(process->counters.differences, 2u);
}

TEST(SessionRecording, SaysWhereTheFrameworkCountsOtherwise) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 512, 512, 4096 + 1024);
  made.block(RecordKind::kBlockFree, 0x10000, 512, 2048, 4096);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(process->counters.compared, 2u);
  EXPECT_EQ(process->counters.differences, 2u);
  EXPECT_EQ(process->counters.largest_difference_bytes, -2048);
}

TEST(SessionRecording, KeepsWhatWasAskedForBesideTheBlock) {
  SessionBuilder made;
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByPyTorch);
  made.block(RecordKind::kBlockAlloc, 0x10000, 1024, 0, 4096);
  made.session.events.back().event.handle = 1000;
  made.block(RecordKind::kBlockAlloc, 0x10400, 512, 0, 4096);  // the request is unknown
  made.block(RecordKind::kBlockFree, 0x10000, 1024, 512, 4096);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(process->counters.differences, 0u);
  const auto& events = process->devices[0].events;
  ASSERT_EQ(events.size(), 5u);  // segment_alloc, alloc, alloc, free_requested, free_completed
  const std::vector<std::pair<uint64_t, uint64_t>> sizes_and_requests = {
      {4096, 0}, {1024, 1000}, {512, 512}, {1024, 1000}, {1024, 1000}};
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].size, sizes_and_requests[i].first) << i;
    EXPECT_EQ(events[i].requested_bytes, sizes_and_requests[i].second) << i;
  }
}

TEST(SessionRecording, PythonFramesComeFirstAndNativeOnesOnDemand) {
  SessionBuilder made;
  const std::string lnotab;  // no entries: every instruction is on the first line
  made.session.python_codes[1] = {40, 9, "forward", "Net.forward", "/u/net.py", lnotab};
  made.session.python_codes[2] = {7, 9, "<module>", "<module>", "/u/train.py", lnotab};
  const PythonFrame frames[] = {{1, 0}, {2, 0}, {99, 0}};
  made.session.python_stacks.add(5, frames);
  made.add(RecordKind::kDeviceAlloc, 0x10000, 4096, kByProgram).python_stack = 5;
  made.add(RecordKind::kDeviceAlloc, 0x20000, 4096, kByProgram);
  const auto named = [](const ProcessRecording& process, size_t event) {
    Lines lines;
    for (const FrameId id : process.stacks.frames(process.devices[0].events[event].stack)) {
      const Frame& frame = process.stacks.frame(id);
      lines.push_back(std::string(process.strings.at(frame.filename)) + ":" +
                      std::to_string(frame.line) + " " +
                      std::string(process.strings.at(frame.name)));
    }
    return lines;
  };
  const auto plain = recording_of_session(made.session);
  EXPECT_EQ(named(*plain, 0), (Lines{"/u/net.py:40 forward", "/u/train.py:7 <module>", "??:0 ??"}));
  EXPECT_EQ(named(*plain, 2).size(), 2u);  // no Python: libcudart.so.13 and app
  EXPECT_NE(named(*plain, 2)[1].find("app+0x4800"), std::string::npos) << named(*plain, 2)[1];
  const auto both = recording_of_session(made.session, {.native_frames = true});
  EXPECT_EQ(named(*both, 0).size(), 5u);
}

// What the viewer needs, of any trace: see trace_builder.h.
void expect_consistent(const DeviceTrace& trace) {
  Heap heap(trace);
  for (size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent event = trace.events[i];
    const bool is_live = heap.blocks().find(event.address) != nullptr;
    if (event.action == Action::kAlloc) {
      ASSERT_FALSE(is_live) << i;
      auto segment = heap.segments().upper_bound(event.address);
      ASSERT_NE(segment, heap.segments().begin()) << i;
      --segment;
      ASSERT_LT(event.address - segment->first, segment->second.size) << i;
    }
    if (event.action == Action::kFreeRequested) {
      ASSERT_TRUE(is_live) << i;
      ASSERT_EQ(trace.events.at(i + 1).action, Action::kFreeCompleted) << i;
      ASSERT_EQ(trace.events[i + 1].address, event.address) << i;
      ASSERT_EQ(event.size, heap.blocks().find(event.address)->size) << i;
    }
    if (event.action == Action::kSegmentAlloc) {
      ASSERT_FALSE(heap.segments().contains(event.address)) << i;
    }
    if (event.action == Action::kSegmentFree) {
      ASSERT_TRUE(heap.segments().contains(event.address)) << i;
      heap.blocks().for_each([&](uint64_t address, const Heap::LiveBlock&) {
        EXPECT_FALSE(event.address <= address && address < event.address + event.size) << i;
      });
    }
    heap.apply(event);
  }
}

TEST(SessionRecording, IsConsistentWhateverTheSessionHolds) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    SessionBuilder made;
    made.session.lost_events = 1;
    for (int i = 0; i < 300; ++i) {
      const auto kind =
          static_cast<RecordKind>(random() % 2 == 0 ? 32 + random() % 3 : 48 + random() % 31);
      Event& event = made.add(kind, 0x1000 * (random() % 32), 0x800 * (random() % 8), random() % 4,
                              random() % 3);
      event.handle = random() % 8;
      event.device = static_cast<int8_t>(static_cast<int>(random() % 3) - 1);
      event.result = random() % 16 == 0 ? 2 : 0;
    }
    const auto process = recording_of_session(made.session);
    for (const DeviceTrace& trace : process->devices) expect_consistent(trace);
  }
}

}  // namespace
}  // namespace vramscope
