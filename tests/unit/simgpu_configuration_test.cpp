#include <gtest/gtest.h>

#include "tools/simgpu/core/configuration.h"

namespace simgpu {
namespace {

using Boards = std::vector<int>;

TEST(VisibleDevices, AreOrdinalsInTheirOrder) {
  EXPECT_EQ(parse_visible_devices("2,0", 4), (Boards{2, 0}));
  EXPECT_EQ(parse_visible_devices(" 1 , 3 ", 4), (Boards{1, 3}));
  EXPECT_EQ(parse_visible_devices("", 4), Boards{});
}

TEST(VisibleDevices, EndAtTheFirstEntryThatIsNoBoard) {
  EXPECT_EQ(parse_visible_devices("0,4,1", 4), Boards{0});
  EXPECT_EQ(parse_visible_devices("0,-1,1", 4), Boards{0});
  EXPECT_EQ(parse_visible_devices("-1", 4), Boards{});
  EXPECT_EQ(parse_visible_devices("1,,2", 4), Boards{1});
  EXPECT_EQ(parse_visible_devices("1x", 4), Boards{});
}

TEST(VisibleDevices, NameABoardOnlyOnce) { EXPECT_EQ(parse_visible_devices("0,1,0", 4), Boards{}); }

TEST(VisibleDevices, CanBeUuidsOrTheirBeginnings) {
  EXPECT_EQ(uuid_text(3), "0372616d-7363-6f70-652d-73696d677075");
  EXPECT_EQ(parse_visible_devices("GPU-0372616d-7363-6f70-652d-73696d677075,GPU-01", 4),
            (Boards{3, 1}));
  EXPECT_EQ(parse_visible_devices("GPU-", 4), Boards{});
  EXPECT_EQ(parse_visible_devices("GPU-04", 4), Boards{});
  EXPECT_EQ(parse_visible_devices("MIG-01", 4), Boards{});
}

}  // namespace
}  // namespace simgpu
