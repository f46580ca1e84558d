// Adding nodes to graphs by hand, and the edges between them.
#include <algorithm>
#include <cstring>

#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/copy.h"
#include "tools/simgpu/driver/event.h"
#include "tools/simgpu/driver/kernel.h"

namespace simgpu {
namespace {

// The graph and the nodes that a new node is to depend on, as the caller gave them.
struct Place {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  size_t dependency_count;
};

// With the lock held. On success *place.node is set.
CUresult add(Driver& state, const Place& place, NodeType type, Effect effect, Ticks duration = 0,
             std::string label = {}) {
  Graph* graph = state.graphs.find(place.graph);
  if (!graph || !place.node) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> dependencies;
  for (size_t i = 0; i < place.dependency_count; ++i) {
    GraphNode* dependency = object_of<GraphNode>(place.dependencies[i]);
    if (!graph->owns(dependency)) return CUDA_ERROR_INVALID_VALUE;
    dependencies.push_back(dependency);
  }
  GraphNode* node =
      graph->add(type, std::move(dependencies), std::move(effect), duration, std::move(label));
  *place.node = handle_of<CUgraphNode>(node);
  return CUDA_SUCCESS;
}

CUresult add_locked(const Place& place, NodeType type, Effect effect) {
  return with_driver([&](Driver& state) { return add(state, place, type, std::move(effect)); });
}

CUresult add_kernel(Driver& state, const Place& place, CUfunction function) {
  const Kernel* kernel = state.kernels.find(function);
  if (!kernel) return CUDA_ERROR_INVALID_VALUE;
  return add(state, place, NodeType::kKernel, kernel_effect(*kernel), 0, kernel->name);
}

Effect copy_effect_of(const CUDA_MEMCPY3D& copy) {
  const auto region = region_of(copy);
  return region ? copy_effect(*region) : Effect();
}

Effect set_effect_of(const CUDA_MEMSET_NODE_PARAMS& set) {
  return set_effect({set.dst, set.pitch, set.value, set.elementSize, set.width, set.height});
}

CUresult add_child(Driver& state, const Place& place, CUgraph child_handle) {
  const Graph* child = state.graphs.find(child_handle);
  if (!child) return CUDA_ERROR_INVALID_VALUE;
  const auto executable = std::make_shared<const GraphExecutable>(*child);
  return add(
      state, place, NodeType::kGraph, [executable] { executable->run(); }, executable->duration);
}

// The memory is taken when the node is added and keeps its address for every launch, as the driver
// promises for the address; real drivers take the memory at the launch.
CUresult add_allocation(Driver& state, MemoryCall& call, const Place& place,
                        CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  if (!parameters || parameters->bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  const CUmemLocation& location = parameters->poolProps.location;
  const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (!on_device || !is_device(state, location.id)) return CUDA_ERROR_INVALID_VALUE;
  call.device = location.id;
  call.size = parameters->bytesize;
  MemoryPool& pool = *state.memory.graph_pool(location.id);
  uint64_t address = 0;
  const Status status = state.memory.allocate_from_pool(pool, parameters->bytesize, &address);
  if (status != Status::kSuccess) return result_of(status);
  const CUresult result = add(state, place, NodeType::kMemAlloc, {});
  if (result != CUDA_SUCCESS) {
    state.memory.release(address);
    return result;
  }
  call.address = address;
  parameters->dptr = address;
  return CUDA_SUCCESS;
}

CUresult add_free(Driver& state, MemoryCall& call, const Place& place, CUdeviceptr address) {
  call.address = address;
  const Allocation* allocation = state.memory.allocations().find(address);
  if (!allocation || allocation->kind != MemoryKind::kPooled) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = add(state, place, NodeType::kMemFree, {})) return result;
  return result_of(state.memory.release(address));
}

CUresult add_work(Driver& state, const Place& place, const CUgraphNodeParams& parameters) {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return add_kernel(state, place, parameters.kernel.func);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return add(state, place, NodeType::kMemcpy, copy_effect_of(parameters.memcpy.copyParams));
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS_v2& set = parameters.memset;
      return add(
          state, place, NodeType::kMemset,
          set_effect({set.dst, set.pitch, set.value, set.elementSize, set.width, set.height}));
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS_v2 host = parameters.host;
      return add(state, place, NodeType::kHost, [host] { host.fn(host.userData); });
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return add_child(state, place, parameters.graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return add(state, place, NodeType::kEmpty, {});
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return add(state, place, NodeType::kWaitEvent, {});
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return add(state, place, NodeType::kEventRecord, record_effect(parameters.eventRecord.event));
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

bool is_memory_node(const CUgraphNodeParams& parameters) {
  return parameters.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
         parameters.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

CUresult add_memory(Driver& state, MemoryCall& call, const Place& place,
                    CUgraphNodeParams& parameters) {
  if (parameters.type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
    return add_free(state, call, place, parameters.free.dptr);
  }
  CUDA_MEM_ALLOC_NODE_PARAMS allocation = {};
  allocation.poolProps = parameters.alloc.poolProps;
  allocation.bytesize = parameters.alloc.bytesize;
  const CUresult result = add_allocation(state, call, place, &allocation);
  parameters.alloc.dptr = allocation.dptr;
  return result;
}

CUresult change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count,
                      auto change) {
  if (count > 0 && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Graph* graph = state.graphs.find(handle);
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      GraphNode* begin = object_of<GraphNode>(from[i]);
      GraphNode* end = object_of<GraphNode>(to[i]);
      if (!graph->owns(begin) || !graph->owns(end)) return CUDA_ERROR_INVALID_VALUE;
      change(end->dependencies, begin);
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    return add_kernel(state, {node, graph, dependencies, count}, parameters->func);
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  return add_locked({node, graph, dependencies, count}, NodeType::kMemcpy, copy_effect_of(*copy));
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* set, CUcontext) {
  if (!set) return CUDA_ERROR_INVALID_VALUE;
  return add_locked({node, graph, dependencies, count}, NodeType::kMemset, set_effect_of(*set));
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS* host) {
  if (!host || !host->fn) return CUDA_ERROR_INVALID_VALUE;
  return add_locked({node, graph, dependencies, count}, NodeType::kHost,
                    [function = host->fn, argument = host->userData] { function(argument); });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, CUgraph child) {
  return with_driver([&](Driver& state) {
    return add_child(state, {node, graph, dependencies, count}, child);
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t count) {
  return add_locked({node, graph, dependencies, count}, NodeType::kEmpty, {});
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, size_t count, CUevent event) {
  return add_locked({node, graph, dependencies, count}, NodeType::kEventRecord,
                    record_effect(event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent) {
  return add_locked({node, graph, dependencies, count}, NodeType::kWaitEvent, {});
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return memory_call(
      {.api = "cuGraphAddMemAllocNode", .handle = number_of(graph)},
      [&](Driver& state, MemoryCall& call) {
        return add_allocation(state, call, {node, graph, dependencies, count}, parameters);
      });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               size_t count, CUdeviceptr address) {
  return memory_call({.api = "cuGraphAddMemFreeNode", .handle = number_of(graph)},
                     [&](Driver& state, MemoryCall& call) {
                       return add_free(state, call, {node, graph, dependencies, count}, address);
                     });
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData*, size_t count, CUgraphNodeParams* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  const Place place{node, graph, dependencies, count};
  if (!is_memory_node(*parameters)) {
    return with_driver([&](Driver& state) { return add_work(state, place, *parameters); });
  }
  return memory_call(
      {.api = "cuGraphAddNode", .handle = number_of(graph)},
      [&](Driver& state, MemoryCall& call) { return add_memory(state, call, place, *parameters); });
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                        size_t count, CUgraphNodeParams* parameters) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, parameters);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  if (!node) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver&) {
    GraphNode* doomed = object_of<GraphNode>(node);
    doomed->graph->remove(doomed);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  return change_edges(graph, from, to, count, [](std::vector<GraphNode*>& edges, GraphNode* begin) {
    edges.push_back(begin);
  });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return change_edges(graph, from, to, count, [](std::vector<GraphNode*>& edges, GraphNode* begin) {
    std::erase(edges, begin);
  });
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
