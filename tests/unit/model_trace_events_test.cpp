// Events come out as they were put in, whatever they share.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tools/model/trace_events.h"

namespace vramscope {
namespace {

// Every field a different function of `number`.
TraceEvent numbered(uint32_t number) {
  TraceEvent event;
  event.action = static_cast<Action>(number % kActionCount);
  event.outside = number % 2 == 1;
  event.thread = number % 5;
  event.stack = number;
  event.owner = number % 7;
  event.address = uint64_t{number} << 40 | 1;
  event.size = ~uint64_t{number};
  event.stream = uint64_t{number % 3} << 33;
  event.time_us = -int64_t{number};
  event.category = number % 4;
  event.extra = number % 11;
  return event;
}

void expect_same(const TraceEvent& a, const TraceEvent& b) {
  EXPECT_EQ(a.action, b.action);
  EXPECT_EQ(a.outside, b.outside);
  EXPECT_EQ(a.thread, b.thread);
  EXPECT_EQ(a.stack, b.stack);
  EXPECT_EQ(a.owner, b.owner);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.time_us, b.time_us);
  EXPECT_EQ(a.category, b.category);
  EXPECT_EQ(a.extra, b.extra);
}

TEST(TraceEvents, GiveBackEveryField) {
  TraceEvents events;
  EXPECT_TRUE(events.empty());
  for (uint32_t i = 0; i < 1000; ++i) events.push_back(numbered(i));
  ASSERT_EQ(events.size(), 1000u);
  uint32_t i = 0;
  for (const TraceEvent& event : events) expect_same(event, numbered(i++));
  EXPECT_EQ(i, 1000u);
  expect_same(events.front(), numbered(0));
  expect_same(events.back(), numbered(999));
}

TEST(TraceEvents, ChangeOneAtATime) {
  TraceEvents events = {numbered(1), numbered(2), numbered(3)};
  events.set(1, numbered(77));
  expect_same(events[0], numbered(1));
  expect_same(events[1], numbered(77));
  expect_same(events[2], numbered(3));
  EXPECT_THROW(events.at(3), std::out_of_range);
  EXPECT_THROW(events.set(3, numbered(0)), std::out_of_range);
}

}  // namespace
}  // namespace vramscope
