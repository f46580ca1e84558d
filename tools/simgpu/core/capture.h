// Stream capture: which streams record into which graph, and which calls a capture forbids.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "tools/simgpu/core/graph.h"
#include "tools/simgpu/core/status.h"
#include "tools/simgpu/core/stream.h"

namespace simgpu {

// The numbers are the driver API's (CUstreamCaptureMode).
enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

class Capture {
 public:
  Capture(uint64_t capture_id, Graph* target, bool graph_owned, Stream* origin_stream,
          CaptureMode capture_mode)
      : id(capture_id),
        graph(target),
        owns_graph(graph_owned),
        origin(origin_stream),
        mode(capture_mode) {}

  uint64_t id;
  Graph* graph;
  bool owns_graph;  // false: captured into a graph that the program made
  Stream* origin;
  CaptureMode mode;
  std::thread::id thread = std::this_thread::get_id();
  bool invalidated = false;
  std::set<Stream*> streams;  // that joined, origin included
};

// All captures under way. Not thread-safe.
class CaptureRegistry {
 public:
  Status begin(Stream& stream, Graph* graph, bool owns_graph, std::vector<GraphNode*> dependencies,
               CaptureMode mode, uint64_t id);

  // Ends the capture that began on the stream. *captured: the finished capture, also where the
  // result is an error (the caller then drops its graph); null where the stream is not its origin.
  Status end(Stream& stream, std::unique_ptr<Capture>* captured);

  // Adds work to the capture of the stream, which must have one.
  Status add(Stream& stream, NodeType type, Effect effect, Ticks duration,
             const std::string& label);

  // cuStreamWaitEvent on an event recorded under capture: the stream joins that capture.
  Status join(Stream& stream, const Event& event);

  // The capture in which the event was recorded, while it is under way.
  Capture* of_event(const Event& event);

  // Before a call that may synchronise: an error, and the capture invalidated, where a capture
  // forbids it to this thread. `thread_mode`: the thread's own mode
  // (cuThreadExchangeStreamCaptureMode).
  Status check_unsafe_call(CaptureMode thread_mode);

  // The stream is going away or was synchronised while being captured.
  static Status invalidate(Stream& stream);

  bool empty() const { return captures_.empty(); }

 private:
  std::vector<std::unique_ptr<Capture>> captures_;
};

}  // namespace simgpu
