// NVTX ranges and optimizer calls of sessions made by hand, and the memory inside them.
#include <gtest/gtest.h>

#include "tests/unit/model_session_builder.h"
#include "tools/analysis/range_use.h"
#include "tools/model/session_recording.h"

namespace vramscope {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class MarksBuilder : public SessionBuilder {
 public:
  enum Text : uint32_t { kNone, kForward, kBackward, kLibrary };

  // Code objects, and stacks of them, innermost frame first.
  enum Code : uint32_t {
    kOps = 1,
    kEnter,
    kWrapper,
    kStep,
    kZeroGrad,
    kTrain,
    kOtherWrapper,
    kEvaluate
  };
  enum Stack : uint32_t {
    kStepScope = 1,  // train.py, line A, calls step()
    kInStep,         // and allocates in it
    kStepScopeB,     // evaluate.py does the same
    kZeroGradScope,
    kInTrain,
    kInnerStepScope,     // a step() that an outer step() calls
    kOtherScope,         // record_function by the program itself
    kOtherWrapperScope,  // a function called wrapper elsewhere
  };

  MarksBuilder() {
    session.texts = {{kForward, "forward"}, {kBackward, "backward"}, {kLibrary, "library"}};
    code(kOps, "__call__", "/site-packages/torch/_ops.py");
    code(kEnter, "__enter__", "/site-packages/torch/autograd/profiler.py");
    code(kWrapper, "wrapper", "/site-packages/torch/optim/optimizer.py",
         "Optimizer.profile_hook_step.<locals>.wrapper");
    code(kStep, "step", "/site-packages/torch/optim/adamw.py");
    code(kZeroGrad, "zero_grad", "/site-packages/torch/optim/optimizer.py");
    code(kTrain, "<module>", "train.py");
    code(kEvaluate, "<module>", "evaluate.py");
    code(kOtherWrapper, "wrapper", "/home/me/optim/optimizer.py");
    stack(kStepScope, {{kOps, 2}, {kEnter, 4}, {kWrapper, 6}, {kTrain, 100}});
    stack(kInStep, {{kStep, 8}, {kWrapper, 20}, {kTrain, 100}});
    stack(kStepScopeB, {{kOps, 2}, {kEnter, 4}, {kWrapper, 6}, {kEvaluate, 100}});
    stack(kZeroGradScope, {{kOps, 2}, {kEnter, 4}, {kZeroGrad, 6}, {kTrain, 300}});
    stack(kInTrain, {{kTrain, 50}});
    stack(kInnerStepScope,
          {{kOps, 2}, {kEnter, 4}, {kWrapper, 6}, {kStep, 10}, {kWrapper, 20}, {kTrain, 100}});
    stack(kOtherScope, {{kOps, 2}, {kEnter, 4}, {kTrain, 100}});
    stack(kOtherWrapperScope, {{kOps, 2}, {kEnter, 4}, {kOtherWrapper, 6}, {kTrain, 100}});
  }

  void mark(RecordKind kind, uint32_t text = kNone, uint32_t domain = kNone, uint64_t range = 0,
            uint32_t thread = 0) {
    Event& event = add(kind, range, 0, 0, thread);
    event.handle = text;
    event.extra = domain;
  }
  void scope(uint32_t python_stack) { add(RecordKind::kScope, 0, 0).python_stack = python_stack; }
  void allocate(uint64_t address, uint64_t size, uint32_t python_stack = kInTrain) {
    add(RecordKind::kDeviceAlloc, address, size, kFromProgram).python_stack = python_stack;
  }
  void free(uint64_t address, uint32_t python_stack = kInTrain) {
    add(RecordKind::kDeviceFree, address, 0, kFromProgram).python_stack = python_stack;
  }

 private:
  void code(uint32_t id, const char* name, const char* file, const char* qualified = nullptr) {
    session.python_codes[id] = {1, 11, name, qualified == nullptr ? name : qualified, file, ""};
  }
  void stack(uint32_t id, std::vector<PythonFrame> frames) {
    session.python_stacks.add(id, frames);
  }
};

std::vector<std::string> lines_of(const ProcessRecording& process) {
  std::vector<std::string> lines;
  for (const NamedRange& range : process.ranges)
    lines.push_back(std::string(range_kind_name(range.kind)) + " " +
                    std::string(process.strings.at(range.domain)) + "|" +
                    std::string(process.strings.at(range.name)) + " " +
                    std::to_string(range.begin.events_of(0)) + "-" +
                    std::to_string(range.end.events_of(0)) + (range.is_open ? " open" : ""));
  return lines;
}

using Lines = std::vector<std::string>;
using Make = MarksBuilder;

// Every allocation is two events of the trace (segment_alloc, alloc), every free three.
TEST(SessionMarks, PushesNestInEveryThreadAndDomain) {
  MarksBuilder made;
  made.mark(RecordKind::kRangePop);  // opened before the recording
  made.mark(RecordKind::kRangePush, Make::kForward);
  made.allocate(0x1000, kMiB);
  made.mark(RecordKind::kRangePush, Make::kBackward, Make::kLibrary);
  made.mark(RecordKind::kRangePush, Make::kBackward, Make::kNone, 0, 1);
  made.allocate(0x200000, kMiB);
  made.mark(RecordKind::kRangePop);
  made.allocate(0x400000, kMiB);
  made.mark(RecordKind::kRangePop, Make::kNone, Make::kLibrary);
  made.mark(RecordKind::kMark, Make::kForward);
  made.free(0x1000);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"push |forward 0-4", "push library|backward 2-6",
                                       "push |backward 2-9 open", "mark |forward 6-6"}));
  EXPECT_EQ(process->ranges[2].thread, 101u);
  EXPECT_EQ(process->ranges[0].begin.time_us, 1'000'002);
  EXPECT_EQ(process->ranges[0].end.time_us, 1'000'007);
}

TEST(SessionMarks, StartedRangesEndInAnyThread) {
  MarksBuilder made;
  made.mark(RecordKind::kRangeStart, Make::kForward, Make::kNone, 7);
  made.mark(RecordKind::kRangeStart, Make::kBackward, Make::kNone, 8);
  made.allocate(0x1000, kMiB);
  made.mark(RecordKind::kRangeEnd, Make::kNone, Make::kNone, 7, 1);
  made.mark(RecordKind::kRangeEnd, Make::kNone, Make::kNone, 99);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"start |forward 0-2", "start |backward 0-2 open"}));
  const std::vector<Annotation>& annotations = process->annotations;
  ASSERT_EQ(annotations.size(), 3u);
  EXPECT_EQ(annotations[2].name, "forward");
  EXPECT_EQ(annotations[2].stage, "END");
  EXPECT_EQ(annotations[2].time_us, 1'000'004);
}

TEST(SessionMarks, AnOptimizerCallIsCountedOnceAndEndsWithItsLastEvent) {
  MarksBuilder made;
  made.scope(Make::kStepScope);
  made.allocate(0x1000, kMiB, Make::kInStep);
  made.scope(Make::kInnerStepScope);
  made.free(0x1000, Make::kInStep);
  made.allocate(0x1000, kMiB);
  made.free(0x1000);
  made.scope(Make::kStepScope);  // allocates nothing
  made.scope(Make::kStepScope);  // the same call site at once
  made.scope(Make::kStepScopeB);
  made.scope(Make::kZeroGradScope);
  made.scope(Make::kOtherScope);
  made.scope(Make::kOtherWrapperScope);
  made.scope(0);
  const auto process = recording_of_session(made.session);
  EXPECT_EQ(lines_of(*process), (Lines{"step | 0-5", "step | 10-10", "step | 10-10", "step | 10-10",
                                       "zero_grad | 10-10"}));
  EXPECT_EQ(process->ranges[0].stack, process->ranges[1].stack);
  EXPECT_NE(process->ranges[0].stack, process->ranges[3].stack);
  const auto callers = process->stacks.frames(process->ranges[0].stack);
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(process->strings.at(process->stacks.frame(callers[0]).filename), "train.py");
}

RangeReport report_of(const ProcessRecording& process) {
  return report_ranges(process, process.devices.at(0));
}

TEST(RangeUse, AStepReachesFromTheEndOfTheOneBefore) {
  MarksBuilder made;
  made.allocate(0x10000000, 8 * kMiB);  // the model
  uint64_t leak = 0x20000000;
  for (const uint64_t activations : {3, 5, 2, 4}) {
    made.allocate(0x1000, activations * kMiB);
    made.free(0x1000);
    made.scope(Make::kStepScope);
    made.allocate(leak, kMiB, Make::kInStep);
    leak += kMiB;
  }
  made.allocate(0x40000000, 100 * kMiB);  // after the last step
  const auto process = recording_of_session(made.session);
  const RangeReport report = report_of(*process);
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].peak_allocated_bytes,
            (std::vector<uint64_t>{11 * kMiB, 14 * kMiB, 12 * kMiB, 15 * kMiB}));
  EXPECT_EQ(report.steps[0].growth_bytes, 1.0 * kMiB);
}

TEST(RangeUse, RangesOfOneNameAreOneRow) {
  MarksBuilder made;
  made.allocate(0x10000000, 8 * kMiB);
  for (const uint64_t size : {3, 5}) {
    made.mark(RecordKind::kRangePush, Make::kForward);
    made.allocate(0x1000, size * kMiB);
    made.free(0x1000);
    made.allocate(0x20000000 * size, kMiB * size);
    made.mark(RecordKind::kRangePop);
  }
  made.mark(RecordKind::kRangePush, Make::kBackward);
  made.free(0x20000000 * 3);
  const auto process = recording_of_session(made.session);
  const RangeReport report = report_of(*process);
  ASSERT_EQ(report.nvtx.size(), 2u);
  EXPECT_EQ(process->strings.at(report.nvtx[0].name), "forward");
  EXPECT_EQ(report.nvtx[0].times, 2u);
  EXPECT_EQ(report.nvtx[0].peak_allocated_bytes, 16 * kMiB);  // 8 + 3 + 5
  EXPECT_EQ(report.nvtx[0].kept_bytes, int64_t{5} * kMiB);
  EXPECT_EQ(report.nvtx[1].open, 1u);
  EXPECT_EQ(report.nvtx[1].peak_allocated_bytes, 16 * kMiB);
  EXPECT_EQ(report.nvtx[1].kept_bytes, -int64_t{3} * kMiB);
}

}  // namespace
}  // namespace vramscope
