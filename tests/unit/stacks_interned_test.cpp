#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "recorder/stacks/interned_stacks.h"

namespace vramscope {
namespace {

using Words = std::vector<uint64_t>;

uint32_t id_of(InternedStacks& table, const Words& keys, uint64_t hash) {
  const InternedStacks::Stack* stack = table.find(keys, hash);
  return stack == nullptr ? 0 : stack->id;
}

TEST(InternedStacks, FindsWhatWasInsertedAndItsNotes) {
  InternedStacks table;
  const Words keys{1, 2, 3};
  const Words notes{7, 8};
  EXPECT_EQ(table.find(keys, InternedStacks::hash(keys)), nullptr);
  table.insert(keys, notes, InternedStacks::hash(keys), 5);
  InternedStacks::Stack* stack = table.find(keys, InternedStacks::hash(keys));
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->id, 5u);
  EXPECT_EQ(Words(stack->notes().begin(), stack->notes().end()), notes);
}

TEST(InternedStacks, EqualHashesAreToldApartByTheirWords) {
  InternedStacks table;
  const Words stacks[] = {{}, {1}, {1, 2}, {2, 1}, {1, 2, 3}, {1, 2, 4}};
  for (uint32_t i = 0; i < std::size(stacks); ++i) table.insert(stacks[i], {}, 42, i + 1);
  for (uint32_t i = 0; i < std::size(stacks); ++i) EXPECT_EQ(id_of(table, stacks[i], 42), i + 1);
  EXPECT_EQ(id_of(table, {3}, 42), 0u);
}

TEST(InternedStacks, EraseTakesOutOneOfAChain) {
  InternedStacks table;
  for (uint64_t i = 1; i <= 3; ++i) table.insert(Words{i}, {}, 42, static_cast<uint32_t>(i));
  table.erase(table.find(Words{2}, 42));
  EXPECT_EQ(id_of(table, {1}, 42), 1u);
  EXPECT_EQ(id_of(table, {2}, 42), 0u);
  EXPECT_EQ(id_of(table, {3}, 42), 3u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(InternedStacks, GrowsAndKeepsEverything) {
  InternedStacks table;
  constexpr uint32_t kStacks = 20000;
  const auto keys_of = [](uint64_t i) { return Words{i, i * i, 7}; };
  for (uint32_t i = 1; i <= kStacks; ++i) {
    table.insert(keys_of(i), {}, InternedStacks::hash(keys_of(i)), i);
  }
  for (uint32_t i = 1; i <= kStacks; ++i) {
    ASSERT_EQ(id_of(table, keys_of(i), InternedStacks::hash(keys_of(i))), i);
  }
}

TEST(InternedStacks, ForgetsEverythingWhenItsMemoryIsFull) {
  InternedStacks table;  // alone it may hold nearly half of the region
  constexpr size_t kWords = 1000;
  constexpr size_t kMost = kStackMemoryBytes / (kWords * sizeof(uint64_t));
  const auto keys_of = [](uint64_t i) { return Words(kWords, i); };
  uint32_t last = 0;
  size_t size_before = 0;
  do {
    size_before = table.size();
    ++last;
    ASSERT_LT(last, kMost);
    ASSERT_TRUE(table.insert(keys_of(last), {}, last, last));
  } while (table.size() > size_before);
  EXPECT_GT(last, kMost / 4);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(id_of(table, keys_of(last - 1), last - 1), 0u);
  EXPECT_EQ(id_of(table, keys_of(last), last), last);
}

TEST(InternedStacks, HashDependsOnOrderLengthAndEveryWord) {
  std::vector<uint64_t> hashes;
  for (const Words& keys :
       {Words{}, Words{0}, Words{0, 0}, Words{1, 2, 3, 4, 5, 6}, Words{2, 1, 3, 4, 5, 6},
        Words{5, 2, 3, 4, 1, 6}, Words{1, 2, 3, 4, 5, 7}, Words{1, 2, 3, 4, 5}}) {
    hashes.push_back(InternedStacks::hash(keys));
  }
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end());
}

}  // namespace
}  // namespace vramscope
