#include <gtest/gtest.h>

#include "tools/simgpu/core/range_set.h"

namespace simgpu {
namespace {

using Ranges = std::vector<RangeSet::Range>;

TEST(RangeSet, MergesWhatTouches) {
  RangeSet ranges;
  ranges.add(100, 10);
  ranges.add(120, 10);
  EXPECT_TRUE(ranges.covers(100, 10));
  EXPECT_FALSE(ranges.covers(105, 20));
  ranges.add(110, 10);
  EXPECT_TRUE(ranges.covers(100, 30));
  EXPECT_FALSE(ranges.covers(99, 2));
  EXPECT_FALSE(ranges.covers(129, 2));
  ranges.clear();
  EXPECT_FALSE(ranges.covers(100, 1));
}

TEST(RangeSet, DividesARangeIntoInsideAndOutside) {
  RangeSet ranges;
  ranges.add(100, 10);
  ranges.add(120, 10);
  EXPECT_EQ(ranges.inside(105, 20), (Ranges{{105, 110}, {120, 125}}));
  EXPECT_EQ(ranges.outside(105, 20), (Ranges{{110, 120}}));
  EXPECT_EQ(ranges.outside(90, 60), (Ranges{{90, 100}, {110, 120}, {130, 150}}));
  EXPECT_EQ(ranges.inside(110, 10), Ranges{});
  EXPECT_EQ(ranges.outside(100, 10), Ranges{});
}

TEST(RangeSet, RemovesPartsOfRanges) {
  RangeSet ranges;
  ranges.add(100, 30);
  ranges.remove(110, 10);
  EXPECT_EQ(ranges.inside(0, 1000), (Ranges{{100, 110}, {120, 130}}));
  ranges.remove(90, 25);
  ranges.remove(125, 100);
  EXPECT_EQ(ranges.inside(0, 1000), (Ranges{{120, 125}}));
}

}  // namespace
}  // namespace simgpu
