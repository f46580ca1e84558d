// Graphs as objects; capture and launch are in stream_ordered/.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return forward<&DriverApi::cuGraphCreate>(graph, flags);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return forward<&DriverApi::cuGraphDestroy>(graph);
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return forward<&DriverApi::cuGraphClone>(clone, graph);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return forward<&DriverApi::cuGraphDebugDotPrint>(graph, path, flags);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return forward<&DriverApi::cuGraphGetNodes>(graph, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return forward<&DriverApi::cuGraphGetRootNodes>(graph, nodes, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return forward<&DriverApi::cuGraphGetEdges>(graph, from, to, data, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return forward<&DriverApi::cuGraphNodeGetType>(node, type);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* data, size_t* count) {
  return forward<&DriverApi::cuGraphNodeGetDependencies>(node, dependencies, data, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* data, size_t* count) {
  return forward<&DriverApi::cuGraphNodeGetDependentNodes>(node, dependents, data, count);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return forward<&DriverApi::cuGraphAddDependencies>(graph, from, to, data, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  return forward<&DriverApi::cuGraphRemoveDependencies>(graph, from, to, data, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return forward<&DriverApi::cuGraphDestroyNode>(node);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return forward<&DriverApi::cuGraphInstantiateWithFlags>(executable, graph, flags);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return forward<&DriverApi::cuGraphExecDestroy>(executable);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return forward<&DriverApi::cuGraphExecUpdate>(executable, graph, result);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return forward<&DriverApi::cuGraphExecGetFlags>(executable, flags);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned initial_count, unsigned flags) {
  return forward<&DriverApi::cuUserObjectCreate>(object, data, destroy, initial_count, flags);
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return forward<&DriverApi::cuUserObjectRetain>(object, count);
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return forward<&DriverApi::cuUserObjectRelease>(object, count);
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return forward<&DriverApi::cuGraphRetainUserObject>(graph, object, count, flags);
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return forward<&DriverApi::cuGraphReleaseUserObject>(graph, object, count);
}

}  // extern "C"
