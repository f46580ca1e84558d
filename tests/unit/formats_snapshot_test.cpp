// Snapshots: written, read again, the same; and what is no snapshot is refused with its place.
#include <gtest/gtest.h>

#include <sstream>

#include "tools/formats/pickle_writer.h"
#include "tools/formats/snapshot_reader.h"
#include "tools/formats/snapshot_writer.h"
#include "tools/model/heap.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

std::string written(const ProcessRecording& process) {
  std::ostringstream out;
  write_snapshot(process, out);
  return out.str();
}

std::string error_of(const std::string& pickle) {
  try {
    read_snapshot(pickle, "file");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

template <typename Write>
std::string pickle_of(Write write) {
  std::ostringstream out;
  PickleWriter pickle(out);
  write(pickle);
  pickle.finish();
  return out.str();
}

TraceEvent event(Action action, uint64_t address, uint64_t size) {
  TraceEvent made;
  made.action = action;
  made.address = address;
  made.size = size;
  if (is_block_action(action)) made.requested_bytes = size;
  made.stream = 3;
  made.time_us = 1'700'000'000'000'000;
  return made;
}

// A recording of a session: no final layout.
void fill(ProcessRecording& process) {
  const Frame frame{process.strings.intern("main"), process.strings.intern("train.py"), 12};
  const FrameId frames[] = {process.stacks.intern(frame)};
  DeviceTrace& trace = process.devices.emplace_back();
  trace.device = 1;
  TraceEvent parameter = event(Action::kAlloc, 0x200200, 512);
  parameter.stack = process.stacks.intern(frames);
  parameter.category = process.strings.intern("parameter");
  parameter.requested_bytes = 500;
  trace.events = {event(Action::kSegmentAlloc, 0x200000, 2 << 20), parameter,
                  event(Action::kAlloc, 0x200600, 1024),
                  event(Action::kFreeRequested, 0x200600, 1024), event(Action::kOom, 99, 1 << 30)};
}

TEST(Snapshot, ComesBackAsItWasWritten) {
  ProcessRecording process;
  fill(process);
  process.annotations.push_back({"step", "START", 1, 5});
  const std::string first = written(process);
  const auto read = read_snapshot(first, "file");
  ASSERT_EQ(read->devices.size(), 2u);  // device 0 has an empty trace
  EXPECT_TRUE(read->devices[0].events.empty());
  const DeviceTrace& trace = read->devices[1];
  ASSERT_EQ(trace.events.size(), 5u);
  EXPECT_EQ(trace.events[4].action, Action::kOom);
  EXPECT_EQ(trace.events[4].address, 99u);
  EXPECT_EQ(trace.events[1].time_us, 1'700'000'000'000'000);
  EXPECT_EQ(trace.events[1].size, 512u);
  EXPECT_EQ(trace.events[1].requested_bytes, 500u);
  EXPECT_EQ(read->strings.at(trace.events[1].category), "parameter");
  const auto frames = read->stacks.frames(trace.events[1].stack);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(read->strings.at(read->stacks.frame(frames[0]).filename), "train.py");
  EXPECT_EQ(read->annotations.at(0).name, "step");

  ASSERT_TRUE(trace.final_layout);
  const HeapLayout& end = *trace.final_layout;
  ASSERT_EQ(end.segments.size(), 1u);
  EXPECT_FALSE(end.segments[0].is_large);
  EXPECT_EQ(end.segments[0].stream, 3u);
  ASSERT_EQ(end.blocks.size(), 5u);  // gap, active, gap, pending free, gap
  EXPECT_EQ(end.blocks[1].address, 0x200200u);
  EXPECT_EQ(end.blocks[1].size, 512u);
  EXPECT_EQ(end.blocks[1].requested_bytes, 500u);
  EXPECT_EQ(end.blocks[3].state, BlockState::kPendingFree);
  EXPECT_EQ(end.blocks[4].size, (2u << 20) - 0xa00);

  EXPECT_EQ(Heap(trace).counters().allocated_bytes, 0u);  // nothing lived before the first event
  EXPECT_EQ(written(*read), first);
}

TEST(Snapshot, KeepsFieldsThatItDoesNotKnow) {
  const std::string pickle = pickle_of([](PickleWriter& writer) {
    writer.dict([&] {
      writer.text("segments");
      writer.list(0, [](size_t) {});
      writer.text("device_traces");
      writer.list(1, [&](size_t) {
        writer.list(3, [&](size_t i) {
          writer.dict([&] {
            writer.text("action");
            writer.text(i == 2 ? "from_the_future" : "alloc");
            writer.text("addr");
            writer.integer(static_cast<int64_t>(512 * (i + 1)));
            writer.text("size");
            writer.integer(7);
            writer.text("user_metadata");
            writer.text("N/A");
          });
        });
      });
    });
  });
  const auto read = read_snapshot(pickle, "file");
  ASSERT_EQ(read->devices[0].events.size(), 2u);
  EXPECT_EQ(read->warning, "events of unknown kinds left out: 1");
  EXPECT_EQ(read->devices[0].extras.size(), 2u);  // none, and one shared by both
  const Value& extra = read->devices[0].extras[read->devices[0].events[1].extra];
  ASSERT_EQ(extra.items.size(), 2u);
  EXPECT_EQ(extra.items[0].text, "user_metadata");
  EXPECT_EQ(extra.items[1].text, "N/A");
}

TEST(Snapshot, RefusesWhatIsNone) {
  EXPECT_EQ(error_of(""),
            "file: the file is empty (byte 0); expected a session file or a snapshot that PyTorch "
            "wrote");
  const std::string list = pickle_of([](PickleWriter& writer) { writer.list(0, [](size_t) {}); });
  EXPECT_TRUE(error_of(list).starts_with("file: the snapshot is a list, not a dict (byte 2); "));
  const std::string number_as_event = pickle_of([](PickleWriter& writer) {
    writer.dict([&] {
      writer.text("device_traces");
      writer.list(1, [&](size_t) { writer.list(1, [&](size_t) { writer.integer(5); }); });
    });
  });
  const std::string error = error_of(number_as_event);
  EXPECT_TRUE(error.starts_with("file: what should hold 'action' is an integer, not a dict (byte "))
      << error;
}

// Sixty-four lists, each holding the one before twice: 2^64 values in 300 bytes.
TEST(Snapshot, RefusesExponentialValues) {
  const std::string pickle = pickle_of([](PickleWriter& writer) {
    writer.dict([&] {
      writer.text("allocator_settings");
      writer.list(0, [](size_t) {});
      uint32_t inner = writer.put();
      for (int i = 0; i < 60; ++i) {
        writer.text("allocator_settings");
        writer.list(2, [&](size_t) { writer.get(inner); });
        inner = writer.put();
      }
      writer.text("segments");
      writer.list(0, [](size_t) {});
      writer.text("device_traces");
      writer.list(0, [](size_t) {});
    });
  });
  EXPECT_NE(error_of(pickle).find("too many nested values"), std::string::npos) << error_of(pickle);
}

}  // namespace
}  // namespace vramscope
