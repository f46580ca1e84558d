// A stand-in for a hook, and functions whose return addresses the compiler knows: what the unwinder
// finds is compared with __builtin_return_address.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recorder/stacks/stack_capture.h"
#include "tests/unit/stacks_test_sink.h"

namespace vramscope {

// Keeps a call from being the last thing that a function does, which would make it a jump.
inline void not_a_tail_call() { asm volatile(""); }

inline uint64_t return_address_of(const void* address) {
  return reinterpret_cast<uint64_t>(address);
}

// One thread's capture and what it defined.
struct Probe {
  std::unique_ptr<StackCapture> capture = make_stack_capture();
  CollectingSink sink;
  std::vector<uint64_t> expected;  // return addresses, innermost first, filled by the functions
  uint32_t id = 0;                 // of the last capture

  // Called as a CUDA function would be.
  [[gnu::noinline]] void hook() {
    const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
    const CallSite site{return_address_of(__builtin_return_address(0)),
                        reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
    expected.assign(1, site.program_counter);
    id = capture->native(site, sink);
    not_a_tail_call();
  }

  // Frames of the last capture; empty if its id was not defined.
  std::vector<uint64_t> frames() const {
    const CollectedDefinition* stack = sink.find(RecordKind::kNativeStack, id);
    return stack == nullptr ? std::vector<uint64_t>() : stack->items<uint64_t>();
  }
  bool is_truncated() const {
    return sink.find(RecordKind::kNativeStack, id)->flags == kTruncatedDefinition;
  }

  // The first expected.size() frames of the last capture.
  std::vector<uint64_t> innermost() const {
    std::vector<uint64_t> all = frames();
    if (all.size() > expected.size()) all.resize(expected.size());
    return all;
  }
};

// Calls the hook below `depth` more frames of its own.
[[gnu::noinline]] inline void call_nested(Probe& probe, int depth) {
  if (depth == 0) {
    probe.hook();
  } else {
    call_nested(probe, depth - 1);
  }
  probe.expected.push_back(return_address_of(__builtin_return_address(0)));
}

}  // namespace vramscope
