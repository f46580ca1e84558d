// A hand-worked trace: the peak, what filled it, and who took what from the driver.
#include <gtest/gtest.h>

#include "tools/analysis/report.h"
#include "tools/analysis/stack_summary.h"

namespace vramscope {
namespace {

class Report : public testing::Test {
 protected:
  Report() { process.devices.emplace_back(); }

  StackId stack(std::initializer_list<Frame> frames) {
    std::vector<FrameId> ids;
    for (const Frame& frame : frames) ids.push_back(process.stacks.intern(frame));
    return process.stacks.intern(ids);
  }
  Frame frame(const char* filename, int line, const char* name) {
    return {process.strings.intern(name), process.strings.intern(filename), line};
  }
  void add_segment(uint64_t address, uint64_t size, const char* owner, bool outside) {
    TraceEvent event;
    event.owner = process.strings.intern(owner);
    event.outside = outside;
    add(Action::kSegmentAlloc, address, size, 0, event);
  }
  void add(Action action, uint64_t address, uint64_t size, StackId of = 0, TraceEvent event = {}) {
    event.action = action;
    event.address = address;
    event.size = size;
    event.stack = of;
    event.time_us = static_cast<int64_t>(process.devices[0].events.size()) * 10;
    process.devices[0].events.push_back(event);
  }
  std::string place(StackId of) {
    const Frame& where = process.stacks.frame(summarize_stack(process, of, 2).place);
    return std::string(process.strings.at(where.name));
  }

  ProcessRecording process;
};

TEST_F(Report, FindsThePeakAndWhatFilledIt) {
  const StackId model = stack({frame("m.py", 1, "f")});
  const StackId output = stack({frame("m.py", 2, "f")});
  process.strings.intern("PyTorch");
  add_segment(0x1000, 8192, "PyTorch", false);
  add(Action::kAlloc, 0x1000, 1024, model);
  add(Action::kAlloc, 0x1400, 1024, model);
  add(Action::kAlloc, 0x1800, 4096, output);  // the peak: 6144 after event 4
  add(Action::kFreeRequested, 0x1400, 1024);
  add(Action::kFreeCompleted, 0x1400, 1024);
  add(Action::kAlloc, 0x1400, 1024, output);  // as high again, but later
  add(Action::kFreeRequested, 0x1800, 4096);
  add(Action::kFreeCompleted, 0x1800, 4096);
  add_segment(0x9000, 512, "NCCL", true);
  add(Action::kOom, 777, 1 << 20, model);

  const ProcessReport report = report_process(process);
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceReport& device = report.devices[0];
  EXPECT_EQ(device.peak_allocated_bytes, 6144u);
  EXPECT_EQ(device.peak_event, 4u);
  EXPECT_EQ(device.peak_time_us, 30);
  EXPECT_EQ(device.peak_reserved_bytes, 8192u);
  EXPECT_EQ(device.peak_outside_bytes, 512u);
  EXPECT_EQ(device.live_bytes, 2048u);
  EXPECT_EQ(device.live_blocks, 2u);
  ASSERT_EQ(device.stacks_at_peak.size(), 2u);
  EXPECT_EQ(device.stacks_at_peak[0].stack, output);
  EXPECT_EQ(device.stacks_at_peak[0].bytes, 4096u);
  EXPECT_EQ(device.stacks_at_peak[1].bytes, 2048u);
  EXPECT_EQ(device.stacks_at_peak[1].blocks, 2u);
  ASSERT_EQ(device.allocated_at_peak.size(), 1u);
  EXPECT_EQ(device.allocated_at_peak[0].bytes, 6144u);
  EXPECT_EQ(device.allocated_at_peak[0].blocks, 3u);
  ASSERT_EQ(device.owners_at_peak.size(), 1u);  // NCCL came later
  EXPECT_EQ(device.owners_at_peak[0].owner, "PyTorch");
  EXPECT_EQ(device.owners_at_peak[0].bytes, 8192u);
  ASSERT_EQ(report.ooms.size(), 1u);
  EXPECT_EQ(report.ooms[0].requested_bytes, 1u << 20);
  EXPECT_EQ(report.ooms[0].allocated_bytes, 2048u);
  EXPECT_EQ(report.ooms[0].reserved_bytes, 8192u);
  EXPECT_EQ(report.ooms[0].free_bytes, std::nullopt);  // a session does not know
}

TEST_F(Report, PicklesKnowTheFreeBytesAtAnOom) {
  process.from_pickle = true;
  add(Action::kOom, 777, 1 << 20);
  EXPECT_EQ(report_process(process).ooms.at(0).free_bytes, 777u);
}

TEST_F(Report, DevicesWithoutEventsAreLeftOut) {
  EXPECT_TRUE(report_process(process).devices.empty());
}

TEST_F(Report, TheUsersOwnFrameIsThePlace) {
  const StackId both =
      stack({frame("/v/site-packages/torch/nn/linear.py", 1, "init"),
             frame("/usr/lib/python3.11/runpy.py", 2, "run"), frame("/u/train.py", 3, "main"),
             frame("/u/train.py", 4, "<module>")});
  EXPECT_EQ(place(both), "main");
  const StackSummary summary = summarize_stack(process, both, 2);
  EXPECT_TRUE(summary.has_inside);
  EXPECT_EQ(summary.callers.size(), 1u);
}

TEST_F(Report, WithoutPythonTheBackwardStepIsThePlace) {
  EXPECT_EQ(place(stack({frame("", 0, "c10::cuda::CUDACachingAllocator::malloc(unsigned long)"),
                         frame("", 0, "at::native::mm(at::Tensor const&)"),
                         frame("", 0, "torch::autograd::generated::MmBackward0::apply(int&&)"),
                         frame("", 0, "clone3")})),
            "torch::autograd::generated::MmBackward0::apply(int&&)");
  EXPECT_EQ(place(stack({frame("", 0, "c10::cuda::CUDACachingAllocator::malloc(unsigned long)"),
                         frame("", 0, "at::native::mm(at::Tensor const&)")})),
            "at::native::mm(at::Tensor const&)");
  EXPECT_FALSE(summarize_stack(process, 0, 2).known);
}

TEST(StackSummary, ShortensNames) {
  EXPECT_EQ(short_function_name("at::native::mm(at::Tensor const&)"), "at::native::mm");
  EXPECT_EQ(short_function_name("at::(anonymous namespace)::f(int)"),
            "at::(anonymous namespace)::f");
  EXPECT_EQ(short_function_name("g<void (*)(int)>(long)"), "g<void (*)(int)>");
  EXPECT_EQ(short_function_name("Node::operator()(int)"), "Node::operator()");
  EXPECT_EQ(short_function_name("<module>"), "<module>");
  EXPECT_EQ(short_filename("/v/lib/python3.11/site-packages/torch/nn/linear.py"),
            "torch/nn/linear.py");
  EXPECT_TRUE(is_library_file("<frozen importlib._bootstrap>"));
  EXPECT_FALSE(is_library_file("/home/u/train.py"));
}

}  // namespace
}  // namespace vramscope
