// Nodes that the program adds to a graph itself.

#include "tools/simgpu/runtime/copy_parameters.h"
#include "tools/simgpu/runtime/forward.h"
#include "tools/simgpu/runtime/registration.h"

namespace simgpu::runtime {
namespace {

cudaError_t current_context(CUcontext* context) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  return call_driver(driver_api().cuCtxGetCurrent, context);
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return forward<&DriverApi::cuGraphAddEmptyNode>(node, graph, dependencies, count);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  return forward<&DriverApi::cuGraphAddChildGraphNode>(node, graph, dependencies, count, child);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* wanted) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  CUDA_KERNEL_NODE_PARAMS parameters{};
  parameters.kern = find_kernel(wanted->func);
  if (parameters.kern == nullptr) return record_error(cudaErrorInvalidDeviceFunction);
  parameters.gridDimX = wanted->gridDim.x;
  parameters.gridDimY = wanted->gridDim.y;
  parameters.gridDimZ = wanted->gridDim.z;
  parameters.blockDimX = wanted->blockDim.x;
  parameters.blockDimY = wanted->blockDim.y;
  parameters.blockDimZ = wanted->blockDim.z;
  parameters.sharedMemBytes = wanted->sharedMemBytes;
  parameters.kernelParams = wanted->kernelParams;
  parameters.extra = wanted->extra;
  return forward<&DriverApi::cuGraphAddKernelNode>(node, graph, dependencies, count, &parameters);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* wanted) {
  CUcontext context = nullptr;
  if (cudaError_t error = current_context(&context); error != cudaSuccess) return error;
  const CUDA_MEMCPY3D copy = to_driver_copy(*wanted);
  return forward<&DriverApi::cuGraphAddMemcpyNode>(node, graph, dependencies, count, &copy,
                                                   context);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     void* destination, const void* source, size_t size_bytes,
                                     cudaMemcpyKind kind) {
  cudaMemcpy3DParms line{};
  line.srcPtr = {const_cast<void*>(source), size_bytes, size_bytes, 1};
  line.dstPtr = {destination, size_bytes, size_bytes, 1};
  line.extent = {size_bytes, 1, 1};
  line.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &line);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* parameters) {
  CUcontext context = nullptr;
  if (cudaError_t error = current_context(&context); error != cudaSuccess) return error;
  return forward<&DriverApi::cuGraphAddMemsetNode>(node, graph, dependencies, count, parameters,
                                                   context);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return forward<&DriverApi::cuGraphAddHostNode>(node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  return forward<&DriverApi::cuGraphAddEventRecordNode>(node, graph, dependencies, count, event);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  return forward<&DriverApi::cuGraphAddEventWaitNode>(node, graph, dependencies, count, event);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return forward<&DriverApi::cuGraphAddMemAllocNode>(node, graph, dependencies, count, parameters);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* address) {
  return forward<&DriverApi::cuGraphAddMemFreeNode>(node, graph, dependencies, count, address);
}

}  // extern "C"
