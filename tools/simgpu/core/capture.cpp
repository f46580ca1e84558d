#include "tools/simgpu/core/capture.h"

#include <algorithm>

namespace simgpu {
namespace {

// Whether some stream's last work leads nowhere: the origin's end does not depend on it.
bool has_unjoined_work(const Capture& capture) {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> open(capture.origin->capture_tail.begin(),
                                     capture.origin->capture_tail.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::any_of(capture.streams.begin(), capture.streams.end(), [&](const Stream* stream) {
    const auto& tail = stream->capture_tail;
    return std::any_of(tail.begin(), tail.end(),
                       [&](const GraphNode* node) { return !reached.count(node); });
  });
}

}  // namespace

Status CaptureRegistry::begin(Stream& stream, Graph* graph, bool owns_graph,
                              std::vector<GraphNode*> dependencies, CaptureMode mode, uint64_t id) {
  if (stream.kind == StreamKind::kLegacy) return Status::kCaptureUnsupported;
  if (stream.capture) return Status::kIllegalState;
  captures_.push_back(std::make_unique<Capture>(id, graph, owns_graph, &stream, mode));
  stream.capture = captures_.back().get();
  stream.capture->streams.insert(&stream);
  stream.capture_tail = std::move(dependencies);
  return Status::kSuccess;
}

Status CaptureRegistry::end(Stream& stream, std::unique_ptr<Capture>* captured) {
  captured->reset();
  Capture* capture = stream.capture;
  if (!capture) return Status::kIllegalState;
  if (capture->origin != &stream) return Status::kCaptureUnmatched;
  const bool foreign_thread = capture->thread != std::this_thread::get_id();
  if (foreign_thread && capture->mode != CaptureMode::kRelaxed) return Status::kCaptureWrongThread;
  Status status = Status::kSuccess;
  if (capture->invalidated) {
    status = Status::kCaptureInvalidated;
  } else if (has_unjoined_work(*capture)) {
    status = Status::kCaptureUnjoined;
  }
  for (Stream* member : capture->streams) {
    member->capture = nullptr;
    member->capture_tail.clear();
  }
  const auto it = std::find_if(captures_.begin(), captures_.end(),
                               [capture](const auto& owned) { return owned.get() == capture; });
  *captured = std::move(*it);
  captures_.erase(it);
  return status;
}

Status CaptureRegistry::add(Stream& stream, NodeType type, Effect effect, Ticks duration,
                            const std::string& label) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return Status::kCaptureInvalidated;
  stream.capture_tail = {
      capture.graph->add(type, stream.capture_tail, std::move(effect), duration, label)};
  return Status::kSuccess;
}

Capture* CaptureRegistry::of_event(const Event& event) {
  for (const auto& capture : captures_) {
    if (capture->id == event.capture_id) return capture.get();
  }
  return nullptr;
}

Status CaptureRegistry::join(Stream& stream, const Event& event) {
  Capture* capture = of_event(event);
  if (!capture) return Status::kSuccess;
  if (stream.capture && stream.capture != capture) {
    stream.capture->invalidated = true;
    return Status::kCaptureMerge;
  }
  if (stream.kind == StreamKind::kLegacy) {
    capture->invalidated = true;
    return Status::kCaptureImplicit;
  }
  if (!stream.capture) {
    stream.capture = capture;
    stream.capture_tail.clear();
    capture->streams.insert(&stream);
  }
  auto& tail = stream.capture_tail;
  for (GraphNode* node : event.capture_tail) {
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  }
  return Status::kSuccess;
}

Status CaptureRegistry::check_unsafe_call(CaptureMode thread_mode) {
  if (captures_.empty() || thread_mode == CaptureMode::kRelaxed) return Status::kSuccess;
  for (const auto& capture : captures_) {
    if (capture->mode == CaptureMode::kRelaxed) continue;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool global =
        thread_mode == CaptureMode::kGlobal && capture->mode == CaptureMode::kGlobal;
    if (!own && !global) continue;
    capture->invalidated = true;
    return Status::kCaptureUnsupported;
  }
  return Status::kSuccess;
}

Status CaptureRegistry::invalidate(Stream& stream) {
  if (!stream.capture) return Status::kSuccess;
  stream.capture->invalidated = true;
  return Status::kCaptureUnsupported;
}

}  // namespace simgpu
