// Instead of recorder/stacks: stacks whose ids and frames the tests know. For one source of a test.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "recorder/stacks/stack_capture.h"

namespace vramscope {

inline std::atomic<uint32_t> next_fake_id{1};

class FakeStacks final : public StackCapture {
 public:
  uint32_t python(DefinitionSink& sink) override {
    if (python_id_ == 0) {
      const uint32_t id = next_fake_id++;
      const PythonFrame frames[] = {{id + 1000, 6}, {id + 2000, 8}};
      if (sink.define(RecordKind::kPythonStack, id, {std::as_bytes(std::span(frames))})) {
        python_id_ = id;
      }
    }
    return python_id_;
  }
  void check_native(const CallSite&, uint32_t, UnwindCheck&) override {}

  uint32_t native(const CallSite& site, DefinitionSink& sink) override {
    const uint32_t id = next_fake_id++;
    const uint64_t frames[] = {site.program_counter, 2, 3};
    return sink.define(RecordKind::kNativeStack, id, {std::as_bytes(std::span(frames))}) ? id : 0;
  }

 private:
  uint32_t python_id_ = 0;
};

std::unique_ptr<StackCapture> make_stack_capture() { return std::make_unique<FakeStacks>(); }
void forget_stacks_after_fork() { next_fake_id = 1; }

}  // namespace vramscope
