// The check of --verify-unwind must notice a wrong rule: one is put into the table of rules, and
// the walk goes wrong by itself.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "recorder/code_unloads.h"
#include "recorder/stacks/frame_walk.h"
#include "recorder/stacks/libgcc_unwinder.h"
#include "recorder/stacks/stack_capture.h"
#include "tests/unit/stacks_test_sink.h"

namespace vramscope {
namespace {

constexpr size_t kDepth = 8;

// Captures once, below kDepth + 1 frames of recurse(), as the recorder does under --verify-unwind.
class CheckedCapture {
 public:
  CheckedCapture() {
    testing::internal::CaptureStderr();
    recurse(kDepth);
    warning = testing::internal::GetCapturedStderr();
  }

  UnwindCheck check{};
  std::string warning;
  uint64_t repeated_call;  // return address of recurse() in recurse()
  int32_t frame_bytes;     // of such a frame, the return address included
  size_t real_frames;      // of the stack, by libgcc
  size_t found_frames;

 private:
  // Sanitizers switch frame pointers on: the rule is of the other kind.
  [[gnu::noipa, gnu::optimize("omit-frame-pointer")]] void recurse(size_t depth) {
    if (depth == 0) {
      hook();
    } else {
      recurse(depth - 1);
    }
    asm volatile("");
  }

  [[gnu::noipa]] void hook() {
    const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
    const CallSite site{reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                        reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
    const auto stacks = make_stack_capture();
    CollectingSink sink;
    const uint32_t id = stacks->native(site, sink);
    stacks->check_native(site, id, check);
    found_frames = sink.find(RecordKind::kNativeStack, id)->items<uint64_t>().size();

    uint64_t addresses[kMaxNativeFrames];
    FrameReads reads[kMaxNativeFrames];
    real_frames = walk_by_libgcc(site, addresses).count;
    repeated_call = addresses[1];
    EXPECT_EQ(repeated_call, addresses[kDepth]);
    walk_frames(site, ThreadStack::of_calling_thread(), addresses, reads);
    frame_bytes = static_cast<int32_t>(reads[2].return_address - reads[1].return_address);
  }
};

class WrongRule : public testing::Test {
 protected:
  ~WrongRule() override { forget_rules_after_fork(); }

  // As if that had been made of .eh_frame: what is known of an address is not replaced.
  static void teach(uint64_t return_address, const UnwindRule& rule) {
    forget_rules_after_fork();
    rules_of_process().insert(return_address, rule, code_unloads.load());
  }

  static void expect_noticed(const CheckedCapture& capture, size_t frames, const char* first) {
    EXPECT_EQ(capture.found_frames, frames);
    EXPECT_EQ(capture.check.compared, 1u);
    EXPECT_EQ(capture.check.different, 1u);
    const std::string where = std::string(first) + " of " + std::to_string(frames) + " and " +
                              std::to_string(capture.real_frames) + " is ";
    EXPECT_NE(capture.warning.find("differs from _Unwind_Backtrace: " + where), std::string::npos)
        << capture.warning;
  }

  const CheckedCapture right;
  const UnwindRule rule = rules_of_process().find(right.repeated_call, code_unloads.load());
};

TEST_F(WrongRule, NoneIsWrong) {
  EXPECT_EQ(right.check.compared, 1u);
  EXPECT_EQ(right.check.different, 0u);
  EXPECT_EQ(right.warning, "");
  EXPECT_EQ(right.found_frames, right.real_frames);
  EXPECT_GT(right.real_frames, kDepth + 2);
  EXPECT_EQ(rule.kind, UnwindRule::Kind::kCfaFromStackPointer);
  EXPECT_EQ(rule.cfa_offset, right.frame_bytes);
}

// Every second of the kDepth frames is missing: the first of the others is where frame 5 should be.
TEST_F(WrongRule, AFrameTwiceAsLarge) {
  UnwindRule twice = rule;
  twice.cfa_offset += right.frame_bytes;
  teach(right.repeated_call, twice);
  expect_noticed(CheckedCapture(), right.real_frames - kDepth / 2, "frame 5");
}

TEST_F(WrongRule, AnEndThatIsNone) {
  teach(right.repeated_call, {.kind = UnwindRule::Kind::kEnd});
  expect_noticed(CheckedCapture(), 2, "frame 2");
}

}  // namespace
}  // namespace vramscope
