// Sessions made by hand, event by event; every event is one microsecond after the one before.
#pragma once

#include <string>
#include <vector>

#include "recorder/session.h"

namespace vramscope {

class SessionBuilder {
 public:
  // Native stacks: every one is the runtime, called from one library.
  static constexpr uint32_t kFromPyTorch = 1;
  static constexpr uint32_t kFromNccl = 2;
  static constexpr uint32_t kFromProgram = 3;

  SessionBuilder() {
    session.path = "made-by-hand.vrams";
    session.pid = 4711;
    session.complete = session.finished = true;
    session.start = {0, 1'000'000'000};
    session.end = {1'000'000, 1'001'000'000};
    session.info["executable"] = "/bin/app";
    session.threads = {{100, "main"}, {101, "worker"}};
    session.modules = {{0x1000, 0x2000, 0, "", "/lib/libcudart.so.13"},
                       {0x2000, 0x3000, 0, "", "/lib/libc10_cuda.so"},
                       {0x3000, 0x4000, 0, "", "/lib/libnccl.so.2"},
                       {0x4000, 0x5000, 0, "", "/bin/app"}};
    for (const uint32_t stack : {kFromPyTorch, kFromNccl, kFromProgram}) {
      const NativeFrame frames[] = {{0x1800, 0}, {0x1800 + 0x1000 * stack, stack}};
      session.native_stacks.add(stack, frames);
    }
  }

  Event& add(RecordKind kind, uint64_t address, uint64_t size, uint32_t native_stack = 0,
             uint32_t thread = 0) {
    Event event{};
    event.kind = kind;
    event.ticks = 1000 * (session.events.size() + 1);
    event.address = address;
    event.size = size;
    event.native_stack = native_stack;
    session.events.push_back({event, thread});
    return session.events.back().event;
  }

  // As PyTorch reports it: both totals after the event. Requests are unknown.
  void block(RecordKind kind, uint64_t address, uint64_t size, uint64_t allocated,
             uint64_t reserved) {
    Event& event = add(kind, address, size);
    if (kind != RecordKind::kBlockAlloc) event.handle = allocated;
    event.extra = reserved;
  }

  Session session;
};

}  // namespace vramscope
