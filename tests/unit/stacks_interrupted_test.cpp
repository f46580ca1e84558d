// Signal handlers that make CUDA calls while the interpreter frees a code object: what the handler
// runs is called between every two instructions of what it interrupts, by the processor's
// single-step mode (the trap flag, which the kernel clears while a handler runs).
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "recorder/stacks/python_codes.h"

namespace vramscope {
namespace {

// Calls `in_handler` between every two instructions of `function`, which must not allocate memory.
template <typename Function, typename Handler>
[[gnu::noinline]] void interrupt_everywhere(Function function, Handler in_handler) {
  static Handler* handler;
  handler = &in_handler;
  struct sigaction action {};
  action.sa_handler = [](int) { (*handler)(); };
  struct sigaction old {};
  sigaction(SIGTRAP, &action, &old);
  // Below the red zone of this function's frame.
  asm volatile("sub $128, %%rsp; pushf; orq $0x100, (%%rsp); popf; add $128, %%rsp" ::
                   : "memory", "cc");
  function();
  asm volatile("sub $128, %%rsp; pushf; andq $~0x100, (%%rsp); popf; add $128, %%rsp" ::
                   : "memory", "cc");
  sigaction(SIGTRAP, &old, nullptr);
  handler = nullptr;
}

class InterruptedPythonCodes : public testing::Test {
 protected:
  void SetUp() override {
    int traps = 0;
    interrupt_everywhere([] { asm volatile("nop; nop; nop"); }, [&traps] { ++traps; });
    if (traps < 3) GTEST_SKIP() << "nothing single-steps here: a virtual machine without it?";
  }
};

TEST_F(InterruptedPythonCodes, TheEndOfACodeObject) {
  const char dying = 0;
  const char alive = 0;
  const char again = 0;
  KnownPythonCode* code = find_or_add_python_code(&dying);
  KnownPythonCode* other = find_or_add_python_code(&alive);
  KnownPythonCode* reborn = find_or_add_python_code(&again);
  const uint32_t other_id = other->id;
  const uint64_t deaths = python_code_deaths.load();
  std::vector<uint32_t> ids(10'000);
  size_t interruptions = 0;
  interrupt_everywhere([&] { bury_python_code(&dying); },
                       [&] {
                         ASSERT_EQ(find_or_add_python_code(&alive), other);
                         bury_python_code(&again);
                         ASSERT_EQ(find_or_add_python_code(&again), reborn);
                         ids.at(interruptions++) = reborn->id;
                       });
  EXPECT_GT(interruptions, 20u) << "nothing was interrupted";
  EXPECT_EQ(code->id, 0u);
  EXPECT_EQ(other->id, other_id);
  EXPECT_EQ(python_code_deaths.load(), deaths + interruptions + 1);
  for (size_t i = 1; i < interruptions; ++i) EXPECT_GT(ids[i], ids[i - 1]);
}

// Two stacks that meet a new code object at the same time must agree on its id.
TEST_F(InterruptedPythonCodes, TheFirstUseOfACodeObject) {
  const char address = 0;
  KnownPythonCode* const code = find_or_add_python_code(&address);
  bury_python_code(&address);
  std::vector<uint32_t> ids(10'000);
  size_t interruptions = 0;
  interrupt_everywhere([&] { find_or_add_python_code(&address); },
                       [&] {
                         ASSERT_EQ(find_or_add_python_code(&address), code);
                         ids.at(interruptions++) = code->id;
                       });
  EXPECT_GT(interruptions, 20u) << "nothing was interrupted";
  EXPECT_NE(code->id, 0u);
  for (size_t i = 0; i < interruptions; ++i) EXPECT_EQ(ids[i], code->id);
  bury_python_code(&address);
}

}  // namespace
}  // namespace vramscope
