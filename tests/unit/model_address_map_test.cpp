#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tools/model/address_map.h"

namespace vramscope {
namespace {

TEST(AddressMap, FindsWhatWasInsertedAndNothingElse) {
  AddressMap<int> map;
  map.insert(512, 1);
  map.insert(1024, 2);
  map.insert(512, 3);
  ASSERT_NE(map.find(512), nullptr);
  EXPECT_EQ(*map.find(512), 3);
  EXPECT_EQ(*map.find(1024), 2);
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_EQ(map.size(), 2u);
}

TEST(AddressMap, KeepsAddressZeroAndTheHighestAddress) {
  AddressMap<int> map;
  map.insert(0, 7);
  map.insert(UINT64_MAX, 8);
  EXPECT_EQ(*map.find(0), 7);
  EXPECT_EQ(*map.find(UINT64_MAX), 8);
  EXPECT_TRUE(map.erase(0));
  EXPECT_FALSE(map.erase(0));
  EXPECT_EQ(*map.find(UINT64_MAX), 8);
}

TEST(AddressMap, BehavesLikeStdMapUnderRandomUse) {
  std::mt19937_64 random(4711);
  AddressMap<uint64_t> map;
  std::map<uint64_t, uint64_t> model;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t address = (random() % 5000) * 512;
    if (random() % 2 == 0) {
      map.insert(address, static_cast<uint64_t>(i));
      model[address] = static_cast<uint64_t>(i);
    } else {
      EXPECT_EQ(map.erase(address), model.erase(address) == 1);
    }
  }
  std::map<uint64_t, uint64_t> seen;
  map.for_each([&seen](uint64_t address, uint64_t value) { seen[address] = value; });
  EXPECT_EQ(seen, model);
  EXPECT_EQ(map.size(), model.size());
  for (const auto& [address, value] : model) EXPECT_EQ(*map.find(address), value);
}

}  // namespace
}  // namespace vramscope
