// Our own walk against libgcc's, in the shapes of stacks that programs have.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "recorder/code_unloads.h"
#include "recorder/stacks/frame_walk.h"
#include "recorder/stacks/libgcc_unwinder.h"
#include "recorder/stacks/native_stacks.h"
#include "tests/unit/stacks_test_sink.h"

extern "C" void __register_frame(void* begin);
extern "C" void __deregister_frame(void* begin);

namespace vramscope {
namespace {

// What one thread's hook sees; every capture is checked in three ways.
struct Walker {
  NativeStacks stacks;
  CollectingSink sink;
  ThreadStack stack = ThreadStack::of_calling_thread();
  uint64_t ours[kMaxNativeFrames];
  uint64_t reference[kMaxNativeFrames];
  FrameReads reads[kMaxNativeFrames];
  FrameWalk last;
  uint32_t id = 0;

  [[gnu::noinline]] void hook() {
    const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
    const CallSite site{reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                        reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
    const NativeWalk expected = walk_by_libgcc(site, reference);
    const std::vector<uint64_t> expected_frames(reference, reference + expected.count);
    last = walk_frames(site, stack, ours, reads);
    if (last.result != FrameWalk::Result::kUnsupported) {
      EXPECT_EQ(std::vector<uint64_t>(ours, ours + last.count), expected_frames);
      EXPECT_EQ(last.result == FrameWalk::Result::kTruncated, expected.truncated);
    }
    id = stacks.capture(site, 0, sink);
    EXPECT_EQ(sink.find(RecordKind::kNativeStack, id)->items<uint64_t>(), expected_frames);
    EXPECT_EQ(stacks.capture(site, 0, sink), id) << "found again under another id";
    EXPECT_TRUE(!stacks.is_comparable(site) || stacks.agrees_with_libgcc(site, id));
    asm volatile("");
  }

  void expect_own_walk() const { EXPECT_EQ(last.result, FrameWalk::Result::kComplete); }
};

[[gnu::noinline]] void recurse(Walker& walker, int depth) {
  if (depth == 0) {
    walker.hook();
  } else {
    recurse(walker, depth - 1);
  }
  asm volatile("");
}

TEST(FrameWalk, Recursion) {
  Walker walker;
  for (int round = 0; round < 2; ++round) {
    for (const int depth : {0, 1, 2, 30, 300, 0, 900, 2000}) {
      recurse(walker, depth);
      if (depth < 1000) walker.expect_own_walk();
    }
  }
}

// Frames that need rbp, frames that do not, frames of unknown and of realigned size, mixed.
[[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]] void with_frame_pointer(
    const std::function<void()>& next) {
  next();
  asm volatile("");
}
[[gnu::noinline, gnu::optimize("omit-frame-pointer")]] void without_frame_pointer(
    const std::function<void()>& next) {
  next();
  asm volatile("");
}
[[gnu::noinline]] void with_variable_frame(const std::function<void()>& next, size_t bytes) {
  auto* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  memory[bytes - 1] = 1;
  next();
  asm volatile("");
}
[[gnu::noinline]] void with_realigned_frame(const std::function<void()>& next, size_t bytes) {
  alignas(128) volatile char aligned[128];
  auto* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  memory[0] = 1;
  aligned[0] = 1;
  next();
  asm volatile("" : : "r"(memory), "r"(aligned));
}

TEST(FrameWalk, EveryMixtureOfFramesOfFourKinds) {
  Walker walker;
  constexpr int kDepth = 4;
  for (int mixture = 0; mixture < 1 << 2 * kDepth; ++mixture) {
    std::function<void(int)> go = [&](int depth) {
      if (depth == kDepth) return walker.hook();
      const std::function<void()> next = [&] { go(depth + 1); };
      switch (mixture >> 2 * depth & 3) {
        case 0:
          return with_frame_pointer(next);
        case 1:
          return without_frame_pointer(next);
        case 2:
          return with_variable_frame(next, 100 + mixture);
        default:
          return with_realigned_frame(next, 100 + mixture);
      }
    };
    go(0);
    walker.expect_own_walk();
  }
}

struct HooksInDestructor {
  Walker& walker;
  ~HooksInDestructor() { recurse(walker, 2); }
};

TEST(FrameWalk, CppExceptions) {
  Walker walker;
  for (int i = 0; i < 10; ++i) {
    try {
      const HooksInDestructor guard{walker};
      static_cast<void>(guard);
      throw std::runtime_error("in flight");
    } catch (const std::runtime_error&) {
      walker.expect_own_walk();
      recurse(walker, 1);
      walker.expect_own_walk();
    }
  }
}

Walker* called_back = nullptr;  // for functions that get no argument of ours

TEST(FrameWalk, CallbacksFromLibraries) {
  Walker walker;
  called_back = &walker;
  int values[] = {3, 1, 2, 5, 4};
  std::qsort(values, std::size(values), sizeof(int), [](const void* a, const void* b) {
    called_back->hook();
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  walker.expect_own_walk();
  called_back = nullptr;
  EXPECT_TRUE(std::is_sorted(values, std::end(values)));
}

void handle_signal(int) { recurse(*called_back, 1); }

void raise_in(Walker& walker, int flags) {
  called_back = &walker;
  struct sigaction action {};
  action.sa_handler = &handle_signal;
  action.sa_flags = flags;
  struct sigaction old {};
  sigaction(SIGUSR2, &action, &old);
  raise(SIGUSR2);
  sigaction(SIGUSR2, &old, nullptr);
  called_back = nullptr;
}

TEST(FrameWalk, SignalFramesAreLeftToLibgcc) {
  Walker walker;
  raise_in(walker, 0);
  EXPECT_EQ(walker.last.result, FrameWalk::Result::kUnsupported);
}

TEST(FrameWalk, SignalHandlerOnAStackOfItsOwn) {
  Walker walker;
  std::vector<char> memory(256 << 10);
  stack_t alternate{};
  alternate.ss_sp = memory.data();
  alternate.ss_size = memory.size();
  stack_t old{};
  sigaltstack(&alternate, &old);
  raise_in(walker, SA_ONSTACK);
  sigaltstack(&old, nullptr);
  EXPECT_EQ(walker.last.result, FrameWalk::Result::kUnsupported);
  recurse(walker, 1);
  walker.expect_own_walk();
}

TEST(FrameWalk, EightThreads) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      Walker walker;
      for (int round = 0; round < 3; ++round) {
        for (int depth = 0; depth < 60; ++depth) {
          recurse(walker, depth);
          walker.expect_own_walk();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Two coroutines on stacks of their own that call the hook in turn.
struct Coroutines {
  Walker walker;
  ucontext_t main, contexts[2];
  std::vector<char> memory[2];
}* coroutines = nullptr;

void run_coroutine(int self) {
  for (int depth = 0; depth < 5; ++depth) {
    recurse(coroutines->walker, depth);
    EXPECT_EQ(coroutines->walker.last.result, FrameWalk::Result::kUnsupported);
    swapcontext(&coroutines->contexts[self], &coroutines->contexts[1 - self]);
  }
}

TEST(FrameWalk, CoroutinesOnStacksOfTheirOwn) {
  Coroutines both;
  coroutines = &both;
  for (int i = 0; i < 2; ++i) {
    both.memory[i].resize(256 << 10);
    getcontext(&both.contexts[i]);
    both.contexts[i].uc_stack.ss_sp = both.memory[i].data();
    both.contexts[i].uc_stack.ss_size = both.memory[i].size();
    both.contexts[i].uc_link = &both.main;
    makecontext(&both.contexts[i], reinterpret_cast<void (*)()>(&run_coroutine), 1, i);
  }
  swapcontext(&both.main, &both.contexts[0]);
  recurse(both.walker, 1);
  both.walker.expect_own_walk();
  coroutines = nullptr;
}

// Machine code in memory of its own that calls back: sub rsp, FRAME; call *rdi; add rsp, FRAME; ret
class JitCode {
 public:
  JitCode() {
    memory_ = static_cast<uint8_t*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~JitCode() { munmap(memory_, kBytes); }
  JitCode(const JitCode&) = delete;
  JitCode& operator=(const JitCode&) = delete;

  // The frame has 8 + 16 * units bytes. The call returns to offset 7 whatever its size.
  void write(uint8_t units) {
    const auto frame = static_cast<uint8_t>(8 + 16 * units);
    const uint8_t code[] = {0x48, 0x83, 0xec, frame, 0x90,  0xff,
                            0xd7, 0x48, 0x83, 0xc4,  frame, 0xc3};
    std::memcpy(memory_, code, sizeof code);
  }

  // What a compiler would pass to __register_frame, for write(units).
  std::vector<uint8_t> frame_entries(uint8_t units) const {
    std::vector<uint8_t> bytes = {20,        0, 0, 0, 0, 0, 0, 0, 1,  0, 1, 0x78, 16, 0x0c, 7, 8,
                                  0x80 | 16, 1, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0,    28, 0,    0, 0};
    const uint64_t range[] = {reinterpret_cast<uint64_t>(memory_), 12};
    const auto* range_bytes = reinterpret_cast<const uint8_t*>(range);
    bytes.insert(bytes.end(), range_bytes, range_bytes + sizeof range);
    const auto cfa = static_cast<uint8_t>(16 + 16 * units);
    bytes.insert(bytes.end(), {0x44, 0x0e, cfa, 0x47, 0x0e, 8, 0, 0, 0, 0, 0, 0});
    return bytes;
  }

  void call(void (*function)()) const { reinterpret_cast<void (*)(void (*)())>(memory_)(function); }

  bool contains(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(memory_) < kBytes;
  }

 private:
  static constexpr size_t kBytes = 4096;
  uint8_t* memory_;
};

TEST(FrameWalk, JitCodeThatIsRegisteredAndReplaced) {
  Walker walker;
  called_back = &walker;
  JitCode code;
  size_t depth = 0;
  // The same addresses with another size of frame: a rule that was kept would be wrong.
  for (const uint8_t units : {0, 3, 0, 5}) {
    code.write(units);
    std::vector<uint8_t> entries = code.frame_entries(units);
    __register_frame(entries.data());
    code.call([] { recurse(*called_back, 1); });
    __deregister_frame(entries.data());
    walker.expect_own_walk();
    EXPECT_TRUE(walker.last.is_volatile);
    EXPECT_TRUE(std::any_of(walker.ours, walker.ours + walker.last.count,
                            [&](uint64_t address) { return code.contains(address); }));
    if (depth == 0) depth = walker.last.count;
    EXPECT_EQ(walker.last.count, depth);
  }
  called_back = nullptr;
}

TEST(FrameWalk, JitCodeThatIsNotRegisteredEndsTheStack) {
  Walker walker;
  called_back = &walker;
  JitCode code;
  code.write(2);
  code.call([] { recurse(*called_back, 1); });
  walker.expect_own_walk();
  EXPECT_TRUE(code.contains(walker.ours[walker.last.count - 1]));
  // Now it is known, and the stack goes on.
  const size_t count = walker.last.count;
  std::vector<uint8_t> entries = code.frame_entries(2);
  __register_frame(entries.data());
  code.call([] { recurse(*called_back, 1); });
  __deregister_frame(entries.data());
  called_back = nullptr;
  EXPECT_GT(walker.last.count, count);
}

// The check of --verify-unwind itself: it must find a stack that is wrong.
TEST(FrameWalk, AWrongIdIsNoticed) {
  Walker walker;
  recurse(walker, 1);
  const uint32_t other = walker.id;
  const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  const CallSite here{reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                      reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
  const uint32_t id = walker.stacks.capture(here, 0, walker.sink);
  EXPECT_TRUE(walker.stacks.agrees_with_libgcc(here, id));
  EXPECT_FALSE(walker.stacks.agrees_with_libgcc(here, other));
}

TEST(RuleTable, ForgetsWhenCodeWasUnloadedAndWhenItIsFull) {
  static RuleTable table;
  const UnwindRule rule{.kind = UnwindRule::Kind::kCfaFromStackPointer, .cfa_offset = 32};
  table.insert(100, rule, 0);
  EXPECT_EQ(table.find(100, 0), rule);
  EXPECT_EQ(table.find(101, 0), UnwindRule{});
  EXPECT_EQ(table.find(100, 1), UnwindRule{});
  table.insert(101, rule, 1);
  EXPECT_EQ(table.find(100, 1), UnwindRule{});
  EXPECT_EQ(table.find(101, 1), rule);
  table.insert(102, rule, 0);  // looked up before the unload
  EXPECT_EQ(table.find(102, 1), UnwindRule{});
  for (uint64_t address = 1000; address < 1000 + 2 * RuleTable::kEntries; ++address) {
    table.insert(address, {.kind = rule.kind, .cfa_offset = static_cast<int32_t>(address)}, 1);
    ASSERT_EQ(table.find(address, 1).cfa_offset, static_cast<int32_t>(address));
  }
  EXPECT_EQ(table.find(101, 1), UnwindRule{});
}

}  // namespace
}  // namespace vramscope
