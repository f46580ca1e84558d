// Memory nodes of graphs: addresses are fixed when the node is added, memory is taken at launch.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

void describe_alloc(DriverCall& call, CUgraph graph, const auto* node) {
  call.event.handle = bits(graph);
  if (node == nullptr) return;
  call.event.device = device_of(node->poolProps.location);
  call.event.size = node->bytesize;
  call.event.address = call.succeeded() ? node->dptr : 0;
}

void describe_free(DriverCall& call, CUgraph graph, CUdeviceptr address) {
  call.event.handle = bits(graph);
  call.event.address = address;
}

// Nodes of other types have nothing to do with memory.
void describe_node(DriverCall& call, CUgraph graph, const CUgraphNodeParams* node) {
  const CUgraphNodeParams* read = call.input(node);
  if (read != nullptr && read->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    describe_alloc(call, graph, &read->alloc);
  } else if (read != nullptr && read->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
    describe_free(call, graph, read->free.dptr);
  } else {
    call.skip();
  }
}

constexpr auto kAddAlloc = [](DriverCall& call, CUgraphNode*, CUgraph graph, const CUgraphNode*,
                              size_t, CUDA_MEM_ALLOC_NODE_PARAMS* node) {
  describe_alloc(call, graph, call.input(node));
};

constexpr auto kAddFree = [](DriverCall& call, CUgraphNode*, CUgraph graph, const CUgraphNode*,
                             size_t, CUdeviceptr address) { describe_free(call, graph, address); };

constexpr auto kAddNode = [](DriverCall& call, CUgraphNode*, CUgraph graph, const CUgraphNode*,
                             size_t, CUgraphNodeParams* node) { describe_node(call, graph, node); };

constexpr auto kAddNodeWithEdges =
    [](DriverCall& call, CUgraphNode*, CUgraph graph, const CUgraphNode*, const CUgraphEdgeData*,
       size_t, CUgraphNodeParams* node) { describe_node(call, graph, node); };

constexpr auto kTrim = [](DriverCall& call, CUdevice device) {
  call.event.device = static_cast<int8_t>(device);
};

using Hooks = HookList<Opens<Api::cuGraphAddMemAllocNode, RecordKind::kGraphMemory, kAddAlloc>,
                       Opens<Api::cuGraphAddMemFreeNode, RecordKind::kGraphMemory, kAddFree>,
                       Opens<Api::cuGraphAddNode, RecordKind::kGraphMemory, kAddNode>,
                       Opens<Api::cuGraphAddNode_v2, RecordKind::kGraphMemory, kAddNodeWithEdges>,
                       Closes<Api::cuDeviceGraphMemTrim, RecordKind::kGraphMemory, kTrim>>;

}  // namespace

void attach_graph_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kGraph));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
