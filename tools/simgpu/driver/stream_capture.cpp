// Stream capture.
#include <algorithm>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

CUresult begin_capture(CUstream handle, CaptureMode mode, Graph* graph,
                       std::vector<GraphNode*> dependencies) {
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    const bool owns_graph = graph == nullptr;
    if (owns_graph) {
      graph = state.graphs.create(state.next_id());
    } else if (!state.graphs.find(graph)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Status status = state.captures.begin(*stream, graph, owns_graph, std::move(dependencies),
                                               mode, state.next_id());
    if (status != Status::kSuccess && owns_graph) state.graphs.remove(graph);
    return result_of(status);
  });
}

std::vector<GraphNode*> node_list(const CUgraphNode* nodes, size_t count) {
  std::vector<GraphNode*> list;
  for (size_t i = 0; nodes && i < count; ++i) list.push_back(object_of<GraphNode>(nodes[i]));
  return list;
}

CUstreamCaptureStatus capture_status(const Stream& stream) {
  if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                     : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return begin_capture(handle, static_cast<CaptureMode>(mode), nullptr, {});
}

CUresult cuStreamBeginCapture(CUstream handle) {
  return begin_capture(handle, CaptureMode::kGlobal, nullptr, {});
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData*,
                                     size_t count, CUstreamCaptureMode mode) {
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  return begin_capture(handle, static_cast<CaptureMode>(mode), object_of<Graph>(graph),
                       node_list(dependencies, count));
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    std::unique_ptr<Capture> captured;
    const Status status = state.captures.end(*stream, &captured);
    if (status == Status::kSuccess) {
      *graph = handle_of<CUgraph>(captured->graph);
    } else if (captured && captured->owns_graph) {
      state.graphs.remove(captured->graph);
    }
    return result_of(status);
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    *status = capture_status(*stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, size_t* count) {
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    *status = capture_status(*stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    const std::vector<GraphNode*>& tail = stream->capture_tail;
    if (id) *id = stream->capture->id;
    if (graph) *graph = handle_of<CUgraph>(stream->capture->graph);
    // The driver's array, valid until the next call on the stream.
    if (dependencies) *dependencies = reinterpret_cast<const CUgraphNode*>(tail.data());
    if (edges) *edges = nullptr;
    if (count) *count = tail.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   size_t* count) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, nullptr, count);
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                              const CUgraphEdgeData*, size_t count,
                                              unsigned flags) {
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    std::vector<GraphNode*> nodes = node_list(dependencies, count);
    const bool all_known = std::all_of(nodes.begin(), nodes.end(), [&](const GraphNode* node) {
      return stream->capture->graph->owns(node);
    });
    if (!all_known) return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->capture_tail.clear();
    stream->capture_tail.insert(stream->capture_tail.end(), nodes.begin(), nodes.end());
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* dependencies, size_t count,
                                           unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(handle, dependencies, nullptr, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  const CaptureMode wanted = static_cast<CaptureMode>(*mode);
  *mode = static_cast<CUstreamCaptureMode>(this_thread().capture_mode);
  this_thread().capture_mode = wanted;
  return CUDA_SUCCESS;
}
