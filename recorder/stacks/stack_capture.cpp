#include "recorder/stacks/stack_capture.h"

#include <new>

#include "recorder/stacks/native_stacks.h"
#include "recorder/stacks/python_codes.h"
#include "recorder/stacks/python_stacks.h"
#include "recorder/stacks/stack_ids.h"

namespace vramscope {
namespace {

class ThreadStackCapture final : public StackCapture {
 public:
  [[gnu::hot]] uint32_t python(DefinitionSink& sink) override {
    forget_if_forked();
    try {
      return last_python_ = python_.capture(sink);
    } catch (const std::bad_alloc&) {
      return 0;  // an event without a stack is better than a job that dies of us
    }
  }

  [[gnu::hot]] uint32_t native(const CallSite& site, DefinitionSink& sink) override {
    forget_if_forked();
    try {
      return native_.capture(site, last_python_, sink);
    } catch (const std::bad_alloc&) {
      return 0;
    }
  }

  void check_native(const CallSite& site, uint32_t id, UnwindCheck& check) override {
    if (id == 0) return;
    if (!native_.is_comparable(site)) {
      check.by_libgcc.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    check.compared.fetch_add(1, std::memory_order_relaxed);
    try {
      if (native_.agrees_with_libgcc(site, id)) return;
    } catch (const std::bad_alloc&) {
      // They differ, and there is no memory to say where.
    }
    check.different.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  void forget_if_forked() {
    const uint32_t epoch = stack_ids.epoch.load(std::memory_order_relaxed);
    if (epoch != epoch_) [[unlikely]]
      forget(epoch);
  }
  [[gnu::noinline, gnu::cold]] void forget(uint32_t epoch) {
    epoch_ = epoch;
    python_.forget();
    native_.forget();
  }

  uint32_t epoch_ = stack_ids.epoch.load(std::memory_order_relaxed);
  uint32_t last_python_ = 0;  // stacks that differ in Python tend to differ in C++ too
  PythonStacks python_;
  NativeStacks native_;
};

}  // namespace

std::unique_ptr<StackCapture> make_stack_capture() {
  try {
    return std::make_unique<ThreadStackCapture>();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void forget_stacks_after_fork() {
  forget_python_codes_after_fork();
  forget_rules_after_fork();
  forget_stack_memory_after_fork();
  stack_ids.epoch.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace vramscope
