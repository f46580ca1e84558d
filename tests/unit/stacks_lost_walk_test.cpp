// Walks that cannot go on: they end, and read nothing that is not the thread's stack.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "recorder/code_unloads.h"
#include "recorder/stacks/frame_walk.h"
#include "recorder/stacks/libgcc_unwinder.h"

namespace vramscope {
namespace {

// Where a function begins that calls a hook.
[[gnu::noinline]] CallSite call_site() {
  const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  return {reinterpret_cast<uint64_t>(__builtin_return_address(0)),
          reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
}

class LostWalk : public testing::Test {
 protected:
  FrameWalk walk(const CallSite& site, const ThreadStack& stack) {
    return walk_frames(site, stack, addresses, reads);
  }

  std::vector<uint64_t> first_frames(size_t count) const {
    return {addresses.data(), addresses.data() + count};
  }

  const ThreadStack stack = ThreadStack::of_calling_thread();
  std::vector<uint64_t> addresses = std::vector<uint64_t>(kMaxNativeFrames);
  std::vector<FrameReads> reads = std::vector<FrameReads>(kMaxNativeFrames);
};

// A thread's stack that ends where the walk would have to go on.
TEST_F(LostWalk, NeverLooksBehindTheThreadsStack) {
  const CallSite site = call_site();
  const FrameWalk whole = walk(site, stack);
  ASSERT_EQ(whole.result, FrameWalk::Result::kComplete);
  ASSERT_GT(whole.count, 3u);
  const std::vector<uint64_t> expected = first_frames(whole.count - 1);
  const uint64_t last_word = reads[whole.count - 2].return_address;
  for (const uint64_t high : {last_word, last_word + 7}) {
    const FrameWalk cut = walk(site, {stack.low, high});
    EXPECT_EQ(cut.result, FrameWalk::Result::kLost);
    EXPECT_EQ(first_frames(cut.count), expected);
    EXPECT_EQ(reads[cut.count - 1].return_address, 0u);
  }
}

TEST_F(LostWalk, AnotherStackIsLeftToLibgcc) {
  CallSite site = call_site();
  std::vector<uint64_t> zeroes(1 << 12);
  site.stack_pointer = reinterpret_cast<uint64_t>(zeroes.data());
  EXPECT_EQ(walk(site, stack).result, FrameWalk::Result::kUnsupported);
}

// What greenlets leave: the words above a frame are no longer its caller's. libgcc would follow
// them until it dies of it. The rules are made up, for addresses that nobody else has.
TEST_F(LostWalk, WhatLeadsOffTheStackEndsThere) {
  using Kind = UnwindRule::Kind;
  forget_rules_after_fork();
  const auto teach = [](uint64_t address, UnwindRule rule) {
    rules_of_process().insert(address, rule, code_unloads.load());
  };
  teach(0x1000, {.kind = Kind::kCfaFromStackPointer, .cfa_offset = 16});
  teach(0x2000, {.kind = Kind::kCfaFromFramePointer, .cfa_offset = 16});
  teach(0x3000, {.kind = Kind::kCfaBehindFramePointer, .cfa_offset = -8});
  constexpr uint64_t kWild = 0xdead'beef'0000;  // mapped nowhere
  std::array<uint64_t, 8> words{0, 0, kWild};
  const auto begin = reinterpret_cast<uint64_t>(words.data());
  const ThreadStack all{begin, begin + sizeof words};
  const auto walk_from = [&](uint64_t second_frame, uint64_t frame_pointer) {
    words[1] = second_frame;
    return walk({0x1000, begin, frame_pointer}, all);
  };
  for (const uint64_t frame_pointer : {kWild, uint64_t{0}, begin - 8, begin + sizeof words - 8}) {
    const FrameWalk lost = walk_from(0x2000, frame_pointer);
    EXPECT_EQ(lost.result, FrameWalk::Result::kLost);
    EXPECT_EQ(lost.count, 2u);
    EXPECT_EQ(reads[0].return_address, begin + 8);
    EXPECT_EQ(reads[1].return_address, 0u);
    EXPECT_TRUE(reads[1].uses_frame_pointer);
  }
  // The word that should be the CFA can be read; what it says cannot.
  EXPECT_EQ(walk_from(0x3000, begin + 24).result, FrameWalk::Result::kLost);
  EXPECT_EQ(reads[1].cfa, begin + 16);
  EXPECT_EQ(reads[1].return_address, 0u);
  // No code, no frame: as everywhere the stack ends where nothing is known of an address.
  EXPECT_EQ(walk_from(kWild, 0).result, FrameWalk::Result::kComplete);
  EXPECT_FALSE(is_readable_code(addresses[1]));
  EXPECT_TRUE(is_readable_code(reinterpret_cast<uint64_t>(&std::qsort)));
  forget_rules_after_fork();
}

}  // namespace
}  // namespace vramscope
