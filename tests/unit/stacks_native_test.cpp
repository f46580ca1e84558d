// Native stacks of known call chains.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <thread>

#include "recorder/stacks/frame_walk.h"
#include "tests/support/sanitizer.h"
#include "tests/unit/stacks_call_chain.h"

namespace vramscope {
namespace {

TEST(NativeStacks, StartAtTheCallerOfTheHookAndFollowTheCalls) {
  Probe probe;
  call_nested(probe, 2);
  EXPECT_EQ(probe.expected.size(), 4u);
  EXPECT_EQ(probe.innermost(), probe.expected);
  EXPECT_FALSE(probe.is_truncated());
}

// The caller's frames from its own caller on. A sanitizer puts a frame before backtrace()'s.
[[gnu::noinline]] std::vector<uint64_t> callers_of_caller() {
  void* reference[256];
  const int count = backtrace(reference, std::size(reference));
  std::vector<uint64_t> callers;
  for (int i = 2 + (kIsSanitized ? 1 : 0); i < count; ++i) {
    callers.push_back(return_address_of(reference[i]));
  }
  return callers;
}

TEST(NativeStacks, ReachTheStartOfTheProgram) {
  Probe probe;
  probe.hook();
  const std::vector<uint64_t> callers = callers_of_caller();
  std::vector<uint64_t> frames = probe.frames();
  frames.erase(frames.begin());  // in this function
  EXPECT_EQ(frames, callers);
}

TEST(NativeStacks, SameStackSameIdOtherStackOtherId) {
  Probe probe;
  std::vector<uint32_t> ids;
  for (int round = 0; round < 3; ++round) {
    for (const int depth : {1, 2}) {
      call_nested(probe, depth);  // one call site for all
      ids.push_back(probe.id);
    }
  }
  EXPECT_EQ(ids, (std::vector<uint32_t>{ids[0], ids[1], ids[0], ids[1], ids[0], ids[1]}));
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(probe.sink.of_kind(RecordKind::kNativeStack).size(), 2u);
}

TEST(NativeStacks, ThreeHundredDeep) {
  Probe probe;
  call_nested(probe, 300);
  EXPECT_EQ(probe.expected.size(), 302u);
  EXPECT_EQ(probe.innermost(), probe.expected);
  EXPECT_FALSE(probe.is_truncated());
}

TEST(NativeStacks, DeeperThanTheLimitKeepsTheInnermostFrames) {
  Probe probe;
  call_nested(probe, 3000);
  EXPECT_EQ(probe.frames().size(), kMaxNativeFrames);
  probe.expected.resize(kMaxNativeFrames);
  EXPECT_EQ(probe.frames(), probe.expected);
  EXPECT_TRUE(probe.is_truncated());
}

// Not all frames keep rbp: here the stack pointer moves by an amount known at run time.
[[gnu::noinline]] void call_with_variable_frame(Probe& probe, size_t bytes) {
  auto* memory = static_cast<volatile char*>(__builtin_alloca(bytes));
  memory[bytes - 1] = 1;
  call_nested(probe, 1);
  probe.expected.push_back(return_address_of(__builtin_return_address(0)));
}

TEST(NativeStacks, FrameOfVariableSize) {
  Probe probe;
  for (const size_t bytes : {16u, 1000u, 100000u}) {
    call_with_variable_frame(probe, bytes);
    EXPECT_EQ(probe.innermost(), probe.expected) << bytes;
  }
  EXPECT_EQ(probe.sink.of_kind(RecordKind::kNativeStack).size(), 1u);
}

struct CapturesInDestructor {
  Probe& probe;
  [[gnu::noinline]] ~CapturesInDestructor() {
    call_nested(probe, 1);
    probe.expected.push_back(return_address_of(__builtin_return_address(0)));
  }
};

[[gnu::noinline]] void throw_through(Probe& probe) {
  const CapturesInDestructor guard{probe};
  static_cast<void>(guard);
  throw std::runtime_error("in flight");
}

TEST(NativeStacks, WhileAnExceptionIsInFlight) {
  Probe probe;
  bool caught = false;
  try {
    throw_through(probe);
  } catch (const std::runtime_error& error) {
    caught = true;
    EXPECT_EQ(probe.expected.size(), 4u);
    EXPECT_EQ(probe.innermost(), probe.expected);
    call_nested(probe, 1);
    EXPECT_EQ(probe.innermost(), probe.expected);
    EXPECT_STREQ(error.what(), "in flight");
  }
  EXPECT_TRUE(caught);
}

TEST(NativeStacks, ThreadsHaveStacksAndDefinitionsOfTheirOwn) {
  constexpr int kThreads = 8;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ids, i] {
      Probe probe;
      for (int depth = 0; depth < 50; ++depth) {
        call_nested(probe, depth);
        EXPECT_EQ(probe.innermost(), probe.expected);
        ids[i].push_back(probe.id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint32_t> all;
  for (const auto& of_thread : ids) all.insert(of_thread.begin(), of_thread.end());
  EXPECT_EQ(all.size(), size_t{kThreads} * 50) << "an id was given twice";
}

Probe* signal_probe = nullptr;

void capture_in_handler(int) { call_nested(*signal_probe, 1); }

TEST(NativeStacks, SignalHandlerOnAnAlternateStack) {
  Probe probe;
  signal_probe = &probe;
  std::vector<char> memory(256 << 10);
  stack_t alternate{};
  alternate.ss_sp = memory.data();
  alternate.ss_size = memory.size();
  stack_t old{};
  EXPECT_EQ(sigaltstack(&alternate, &old), 0);
  struct sigaction action {};
  action.sa_handler = &capture_in_handler;
  action.sa_flags = SA_ONSTACK;
  struct sigaction old_action {};
  EXPECT_EQ(sigaction(SIGUSR1, &action, &old_action), 0);
  raise(SIGUSR1);
  const std::vector<uint64_t> callers = callers_of_caller();
  sigaction(SIGUSR1, &old_action, nullptr);
  sigaltstack(&old, nullptr);
  signal_probe = nullptr;

  EXPECT_EQ(probe.expected.size(), 3u);
  EXPECT_EQ(probe.innermost(), probe.expected);
  // Through the kernel's frame back to the interrupted stack: its callers are this test's.
  const std::vector<uint64_t> frames = probe.frames();
  ASSERT_GT(frames.size(), callers.size());
  EXPECT_TRUE(std::equal(callers.rbegin(), callers.rend(), frames.rbegin()));
}

TEST(NativeStacks, FullRingIsTriedAgain) {
  Probe probe;
  std::vector<uint32_t> ids;
  // 1: a module fits, and is not written again. 0 at the end: all is known, nothing to write.
  for (const size_t room : {0, 1, 1000, 0}) {
    probe.sink.room = room;
    call_nested(probe, 1);
    ids.push_back(probe.id);
  }
  EXPECT_NE(ids[2], 0u);
  EXPECT_EQ(ids, (std::vector<uint32_t>{0, 0, ids[2], ids[2]}));
  EXPECT_EQ(probe.innermost(), probe.expected);
  std::set<uint32_t> modules;
  for (const auto& module : probe.sink.of_kind(RecordKind::kModule)) modules.insert(module.id);
  EXPECT_EQ(modules.size(), probe.sink.of_kind(RecordKind::kModule).size());
}

TEST(NativeStacks, UnknownCallSiteGivesItsAddressAlone) {
  Probe probe;
  const CallSite nowhere{.program_counter = 0x1234, .stack_pointer = 0, .frame_pointer = 0};
  probe.id = probe.capture->native(nowhere, probe.sink);
  EXPECT_EQ(probe.frames(), std::vector<uint64_t>{0x1234});
  EXPECT_TRUE(probe.is_truncated());
}

TEST(NativeStacks, ForkedChildDefinesAnew) {
  Probe probe;
  int status = -1;
  // One call site: in the child the same stack must be defined again.
  for (int round = 0; round < 2; ++round) {
    call_nested(probe, 1);
    if (round == 1) break;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const uint32_t old_id = probe.id;
      forget_stacks_after_fork();
      probe.sink = CollectingSink();
      const auto again = [&] { call_nested(probe, 1); };
      again();
      const bool ok = probe.id != 0 && probe.id != old_id &&
                      !probe.sink.of_kind(RecordKind::kModule).empty() &&
                      probe.innermost() == probe.expected;
      _exit(ok ? 0 : 1);
    }
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(NativeStacks, WithoutPythonThereIsNoPythonStack) {
  Probe probe;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(probe.capture->python(probe.sink), 0u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(probe.sink.definitions.empty());
}

}  // namespace
}  // namespace vramscope
