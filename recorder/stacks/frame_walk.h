// Our own walk along the native frames: a rule for each return address, and the words of the stack
// that the rules read.
#pragma once

#include <cstdint>
#include <span>

#include "recorder/stacks/rule_table.h"
#include "recorder/stacks/stack_capture.h"
#include "recorder/stacks/thread_stack.h"

namespace vramscope {

// Deeper frames are not recorded.
constexpr size_t kMaxNativeFrames = 1024;

// What the rule of one frame read. Addresses of words on the stack; 0: not read.
struct FrameReads {
  uint64_t return_address;
  uint64_t frame_pointer;   // where the caller's rbp was saved
  uint64_t cfa;             // where the CFA was found (UnwindRule::Kind::kCfaBehindFramePointer)
  bool uses_frame_pointer;  // of this frame, as its callee left it
};

struct FrameWalk {
  enum class Result : uint8_t {
    kComplete,
    kTruncated,    // deeper than the arrays
    kLost,         // at a frame whose caller's is not on the stack above it
    kUnsupported,  // libgcc must walk this stack; the rest is void
  };
  Result result = Result::kUnsupported;
  size_t count = 0;
  // Some address lies in no loaded object (JIT code). Its rule may change without notice.
  bool is_volatile = false;
};

// A walk gets lost where frames of others lie by now: greenlets put the innermost part of a stack
// aside and put it back below whatever is there then. libgcc would follow what it reads there, into
// memory that may not exist.

// From site.program_counter on; innermost first. `reads`: as long as `return_addresses`. Reads
// nothing but words of `stack` above site.stack_pointer: never memory that might not be mapped. No
// lock and no allocation, except where a return address is seen for the first time (see
// find_function_description()).
FrameWalk walk_frames(const CallSite& site, const ThreadStack& stack,
                      std::span<uint64_t> return_addresses, std::span<FrameReads> reads);

// The rules that all walks of the process share; public for the test of --verify-unwind, which
// spoils one.
RuleTable& rules_of_process();

void forget_rules_after_fork();

}  // namespace vramscope
