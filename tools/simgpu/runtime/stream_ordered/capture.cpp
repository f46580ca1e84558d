// Capture of a stream into a graph, and launch of graphs into a stream.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return forward<&DriverApi::cuStreamBeginCapture>(stream, mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* data, size_t count,
                                          cudaStreamCaptureMode mode) {
  return forward<&DriverApi::cuStreamBeginCaptureToGraph>(stream, graph, dependencies, data, count,
                                                          mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return forward<&DriverApi::cuStreamEndCapture>(stream, graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return forward<&DriverApi::cuStreamIsCapturing>(stream, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** data, size_t* count) {
  return forward<&DriverApi::cuStreamGetCaptureInfo>(stream, status, id, graph, dependencies, data,
                                                     count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* data, size_t count,
                                                unsigned flags) {
  return forward<&DriverApi::cuStreamUpdateCaptureDependencies>(stream, dependencies, data, count,
                                                                flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  return forward<&DriverApi::cuGraphInstantiateWithParams>(executable, graph, parameters);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return forward<&DriverApi::cuGraphLaunch>(executable, stream);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return forward<&DriverApi::cuGraphUpload>(executable, stream);
}

}  // extern "C"
