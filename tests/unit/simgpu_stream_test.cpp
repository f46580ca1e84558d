#include <gtest/gtest.h>

#include "tools/simgpu/core/stream.h"

namespace simgpu {
namespace {

Stream make_stream(StreamKind kind) { return Stream{1, 0, nullptr, kind}; }

TEST(VirtualClock, TurnsTimeIntoWholeTicks) {
  EXPECT_EQ(ticks_of(0), 0u);
  EXPECT_EQ(ticks_of(-5), 0u);
  EXPECT_EQ(ticks_of(1), 1u);
  EXPECT_EQ(ticks_of(10'000), 1u);
  EXPECT_EQ(ticks_of(10'001), 2u);
  EXPECT_EQ(ticks_of(1e300), 100'000'000'000'000u) << "bounded";
}

TEST(VirtualClock, OnlyAdvances) {
  VirtualClock clock;
  clock.tick();
  clock.advance_to(10);
  clock.advance_to(5);
  EXPECT_EQ(clock.now(), 10u);
}

TEST(DeviceTimeline, WithoutLagWorkIsDoneAtOnce) {
  DeviceTimeline timeline;
  Stream stream = make_stream(StreamKind::kNonBlocking);
  timeline.enqueue(stream, 7, 0, 0);
  EXPECT_EQ(timeline.done_at(stream), 7u);
}

TEST(DeviceTimeline, TheLagDelaysCompletionByCalls) {
  DeviceTimeline timeline;
  Stream stream = make_stream(StreamKind::kNonBlocking);
  timeline.enqueue(stream, 10, 0, 5);
  EXPECT_EQ(timeline.done_at(stream), 15u);
  timeline.enqueue(stream, 12, 0, 5);
  EXPECT_EQ(timeline.done_at(stream), 17u);
}

TEST(DeviceTimeline, WorkInAStreamRunsOneAfterTheOther) {
  DeviceTimeline timeline;
  Stream stream = make_stream(StreamKind::kNonBlocking);
  timeline.enqueue(stream, 10, 100, 0);
  timeline.enqueue(stream, 20, 100, 0);
  EXPECT_EQ(timeline.done_at(stream), 210u);
  EXPECT_EQ(timeline.done_at(), 210u);
}

TEST(DeviceTimeline, NonBlockingStreamsAreIndependent) {
  DeviceTimeline timeline;
  Stream busy = make_stream(StreamKind::kNonBlocking);
  Stream other = make_stream(StreamKind::kNonBlocking);
  Stream legacy = make_stream(StreamKind::kLegacy);
  timeline.enqueue(busy, 0, 100, 0);
  timeline.enqueue(other, 1, 0, 0);
  timeline.enqueue(legacy, 2, 0, 0);
  EXPECT_EQ(timeline.done_at(other), 1u);
  EXPECT_EQ(timeline.done_at(legacy), 2u);
}

TEST(DeviceTimeline, TheLegacyStreamAndBlockingStreamsWaitForEachOther) {
  DeviceTimeline timeline;
  Stream blocking = make_stream(StreamKind::kBlocking);
  Stream legacy = make_stream(StreamKind::kLegacy);
  timeline.enqueue(blocking, 0, 100, 0);
  timeline.enqueue(legacy, 1, 50, 0);
  EXPECT_EQ(timeline.done_at(legacy), 150u);
  timeline.enqueue(blocking, 2, 10, 0);
  EXPECT_EQ(timeline.done_at(blocking), 160u);
}

TEST(DeviceTimeline, AWaitForAnEventDelaysLaterWork) {
  DeviceTimeline timeline;
  Stream stream = make_stream(StreamKind::kNonBlocking);
  timeline.wait_until(stream, 80);
  timeline.enqueue(stream, 1, 20, 0);
  EXPECT_EQ(timeline.done_at(stream), 100u);
}

TEST(Event, ElapsedTimeIsTicksOfTenMicroseconds) {
  Event start{0, true};
  Event end{0, true};
  start.complete_at = 100;
  end.complete_at = 350;
  EXPECT_FLOAT_EQ(elapsed_ms(start, end), 2.5f);
  EXPECT_FLOAT_EQ(elapsed_ms(end, start), -2.5f);
}

}  // namespace
}  // namespace simgpu
