#include <gtest/gtest.h>

#include <string>

#include "tools/simgpu/core/capture.h"

namespace simgpu {
namespace {

class CaptureTest : public testing::Test {
 protected:
  Status begin(CaptureMode mode = CaptureMode::kGlobal) {
    return captures_.begin(origin_, &graph_, false, {}, mode, 7);
  }
  Status add(Stream& stream, Effect effect = {}) {
    return captures_.add(stream, NodeType::kKernel, std::move(effect), 0, "kernel");
  }
  static void record(Event& event, const Stream& stream) {
    event.capture_id = stream.capture->id;
    event.capture_tail = stream.capture_tail;
  }

  CaptureRegistry captures_;
  Graph graph_{1};
  Stream origin_{1, 0, nullptr, StreamKind::kNonBlocking};
  Stream other_{2, 0, nullptr, StreamKind::kNonBlocking};
  Stream legacy_{3, 0, nullptr, StreamKind::kLegacy};
  std::unique_ptr<Capture> captured_;
};

TEST_F(CaptureTest, WorkBecomesAChainOfNodes) {
  ASSERT_EQ(begin(), Status::kSuccess);
  add(origin_);
  add(origin_);
  ASSERT_EQ(captures_.end(origin_, &captured_), Status::kSuccess);
  ASSERT_EQ(graph_.nodes().size(), 2u);
  EXPECT_TRUE(graph_.nodes()[0]->dependencies.empty());
  EXPECT_EQ(graph_.nodes()[1]->dependencies, std::vector<GraphNode*>{graph_.nodes()[0].get()});
  EXPECT_EQ(origin_.capture, nullptr);
  EXPECT_TRUE(captures_.empty());
}

TEST_F(CaptureTest, TheLegacyStreamCannotBeCaptured) {
  EXPECT_EQ(captures_.begin(legacy_, &graph_, false, {}, CaptureMode::kGlobal, 7),
            Status::kCaptureUnsupported);
}

TEST_F(CaptureTest, BeginAndEndMustMatch) {
  EXPECT_EQ(captures_.end(origin_, &captured_), Status::kIllegalState);
  begin();
  EXPECT_EQ(begin(), Status::kIllegalState);
  Event event{0, false};
  record(event, origin_);
  ASSERT_EQ(captures_.join(other_, event), Status::kSuccess);
  EXPECT_EQ(captures_.end(other_, &captured_), Status::kCaptureUnmatched);
}

TEST_F(CaptureTest, AStreamThatJoinedMustBeJoinedBack) {
  begin();
  add(origin_);
  Event fork{0, false};
  record(fork, origin_);
  captures_.join(other_, fork);
  add(other_);
  EXPECT_EQ(captures_.end(origin_, &captured_), Status::kCaptureUnjoined);
  EXPECT_EQ(other_.capture, nullptr) << "ended all the same";
}

TEST_F(CaptureTest, AForkAndAJoinMakeADiamond) {
  begin();
  add(origin_);
  Event fork{0, false};
  record(fork, origin_);
  captures_.join(other_, fork);
  add(other_);
  add(origin_);
  Event join{0, false};
  record(join, other_);
  captures_.join(origin_, join);
  add(origin_);
  ASSERT_EQ(captures_.end(origin_, &captured_), Status::kSuccess);
  EXPECT_EQ(graph_.nodes().back()->dependencies.size(), 2u);
}

TEST_F(CaptureTest, TwoCapturesCannotMerge) {
  Graph second{2};
  begin();
  captures_.begin(other_, &second, false, {}, CaptureMode::kGlobal, 8);
  Event event{0, false};
  record(event, other_);
  EXPECT_EQ(captures_.join(origin_, event), Status::kCaptureMerge);
  EXPECT_EQ(captures_.end(origin_, &captured_), Status::kCaptureInvalidated);
}

TEST_F(CaptureTest, UnsafeCallsInvalidateByMode) {
  begin(CaptureMode::kRelaxed);
  EXPECT_EQ(captures_.check_unsafe_call(CaptureMode::kGlobal), Status::kSuccess);
  captures_.end(origin_, &captured_);
  begin(CaptureMode::kThreadLocal);
  EXPECT_EQ(captures_.check_unsafe_call(CaptureMode::kRelaxed), Status::kSuccess);
  Status in_other_thread = Status::kNotSupported;
  std::thread([&] { in_other_thread = captures_.check_unsafe_call(CaptureMode::kGlobal); }).join();
  EXPECT_EQ(in_other_thread, Status::kSuccess);
  EXPECT_EQ(captures_.check_unsafe_call(CaptureMode::kGlobal), Status::kCaptureUnsupported);
  EXPECT_EQ(add(origin_), Status::kCaptureInvalidated);
  EXPECT_EQ(captures_.end(origin_, &captured_), Status::kCaptureInvalidated);
}

TEST_F(CaptureTest, AGlobalCaptureForbidsUnsafeCallsOfOtherThreads) {
  begin(CaptureMode::kGlobal);
  Status in_other_thread = Status::kSuccess;
  std::thread([&] { in_other_thread = captures_.check_unsafe_call(CaptureMode::kGlobal); }).join();
  EXPECT_EQ(in_other_thread, Status::kCaptureUnsupported);
}

TEST_F(CaptureTest, AnotherThreadCannotEndIt) {
  begin();
  Status status = Status::kSuccess;
  std::thread([&] { status = captures_.end(origin_, &captured_); }).join();
  EXPECT_EQ(status, Status::kCaptureWrongThread);
}

TEST(Graph, AnExecutableReplaysInDependencyOrder) {
  Graph graph(1);
  std::string trace;
  GraphNode* last = graph.add(
      NodeType::kHost, {}, [&] { trace += 'c'; }, 3);
  GraphNode* first = graph.add(
      NodeType::kHost, {}, [&] { trace += 'a'; }, 4);
  GraphNode* middle = graph.add(NodeType::kHost, {first}, [&] { trace += 'b'; });
  last->dependencies.push_back(middle);
  const GraphExecutable executable(graph);
  graph.remove(middle);
  executable.run();
  executable.run();
  EXPECT_EQ(trace, "abcabc");
  EXPECT_EQ(executable.duration, 7u);
  EXPECT_TRUE(last->dependencies.empty()) << "edges of a removed node go with it";
}

TEST(Graph, PrintsItselfAsDot) {
  Graph graph(5);
  GraphNode* first = graph.add(NodeType::kKernel, {}, {}, 0, "add");
  graph.add(NodeType::kMemset, {first}, {});
  EXPECT_EQ(dot_text(graph),
            "digraph graph_5 {\n"
            "  node_1 [label=\"KERNEL add\"];\n"
            "  node_2 [label=\"MEMSET\"];\n"
            "  node_1 -> node_2;\n"
            "}\n");
}

}  // namespace
}  // namespace simgpu
