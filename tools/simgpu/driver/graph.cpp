// Graphs: making, looking into, instantiating and launching them. Their nodes: graph_nodes.cpp.
#include <algorithm>
#include <cstdio>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

using Executable = std::shared_ptr<const GraphExecutable>;

CUresult with_graph(CUgraph handle, auto body) {
  return with_driver([&](Driver& state) {
    Graph* graph = state.graphs.find(handle);
    return graph ? body(state, *graph) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return with_graph(graph_handle, [&](Driver& state, const Graph& graph) {
    Executable* executable =
        state.graph_executables.create(std::make_shared<const GraphExecutable>(graph));
    *handle = handle_of<CUgraphExec>(executable);
    return CUDA_SUCCESS;
  });
}

CUresult find_executable(CUgraphExec handle, Executable* executable) {
  return with_driver([&](Driver& state) {
    const Executable* found = state.graph_executables.find(handle);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *executable = *found;
    return CUDA_SUCCESS;
  });
}

// The driver's way to return lists: without an array only the count, else at most *count entries.
template <typename Handle, typename Object>
CUresult answer_list(const std::vector<Object*>& objects, Handle* handles, size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (handles) {
    const size_t copied = std::min(*count, objects.size());
    for (size_t i = 0; i < copied; ++i) handles[i] = handle_of<Handle>(objects[i]);
  }
  *count = objects.size();
  return CUDA_SUCCESS;
}

std::vector<GraphNode*> nodes_where(const Graph& graph, auto predicate) {
  std::vector<GraphNode*> nodes;
  for (const auto& node : graph.nodes()) {
    if (predicate(*node)) nodes.push_back(node.get());
  }
  return nodes;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuGraphClone(CUgraph* clone_handle, CUgraph original) {
  if (!clone_handle) return CUDA_ERROR_INVALID_VALUE;
  return with_graph(original, [&](Driver& state, const Graph& graph) {
    Graph* clone = state.graphs.create(state.next_id());
    std::map<const GraphNode*, GraphNode*> copies;
    for (const GraphNode* node : graph.ordered()) {
      std::vector<GraphNode*> dependencies;
      for (const GraphNode* dependency : node->dependencies)
        dependencies.push_back(copies[dependency]);
      copies[node] =
          clone->add(node->type, dependencies, node->effect, node->duration, node->label);
    }
    *clone_handle = handle_of<CUgraph>(clone);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    return answer_list(nodes_where(graph, [](const GraphNode&) { return true; }), nodes, count);
  });
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    const auto is_root = [](const GraphNode& node) { return node.dependencies.empty(); };
    return answer_list(nodes_where(graph, is_root), nodes, count);
  });
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    std::vector<GraphNode*> begins;
    std::vector<GraphNode*> ends;
    for (const auto& node : graph.nodes()) {
      begins.insert(begins.end(), node->dependencies.begin(), node->dependencies.end());
      ends.resize(begins.size(), node.get());
    }
    if (data) std::fill_n(data, std::min(*count, begins.size()), CUgraphEdgeData{});
    size_t capacity = *count;
    answer_list(begins, from, &capacity);
    return answer_list(ends, to, count);
  });
}

CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(handle, from, to, nullptr, count);
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  if (!handle || !type) return CUDA_ERROR_INVALID_VALUE;
  *type = static_cast<CUgraphNodeType>(object_of<GraphNode>(handle)->type);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* nodes,
                                       CUgraphEdgeData* data, size_t* count) {
  if (!handle || !count) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver&) {
    const std::vector<GraphNode*>& dependencies = object_of<GraphNode>(handle)->dependencies;
    if (data) std::fill_n(data, std::min(*count, dependencies.size()), CUgraphEdgeData{});
    return answer_list(dependencies, nodes, count);
  });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(handle, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  if (!handle || !count) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver&) {
    GraphNode* node = object_of<GraphNode>(handle);
    const auto depends = [node](const GraphNode& other) {
      return std::find(other.dependencies.begin(), other.dependencies.end(), node) !=
             other.dependencies.end();
    };
    const std::vector<GraphNode*> dependents = nodes_where(*node->graph, depends);
    if (data) std::fill_n(data, std::min(*count, dependents.size()), CUgraphEdgeData{});
    return answer_list(dependents, nodes, count);
  });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(handle, nodes, nullptr, count);
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  return with_graph(handle, [&](Driver&, const Graph& graph) {
    std::FILE* file = std::fopen(path, "w");
    if (!file) return CUDA_ERROR_OPERATING_SYSTEM;
    const std::string text = dot_text(graph);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* handle, CUgraph graph, unsigned long long) {
  return instantiate(handle, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* handle, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  parameters->hErrNode_out = nullptr;
  parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return instantiate(handle, graph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec* handle, CUgraph graph, CUgraphNode* error_node,
                               char* text, size_t text_bytes) {
  if (error_node) *error_node = nullptr;
  if (text && text_bytes > 0) *text = '\0';
  return instantiate(handle, graph);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle,
                              CUgraphExecUpdateResultInfo* information) {
  return with_graph(graph_handle, [&](Driver& state, const Graph& graph) {
    Executable* executable = state.graph_executables.find(handle);
    if (!executable) return CUDA_ERROR_INVALID_VALUE;
    *executable = std::make_shared<const GraphExecutable>(graph);
    if (information) *information = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = 0;
  Executable executable;
  return find_executable(handle, &executable);
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream) {
  Executable executable;
  return find_executable(handle, &executable);
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  Executable executable;
  if (const CUresult result = find_executable(handle, &executable)) return result;
  return enqueue(stream, {NodeType::kGraph, executable->duration},
                 [executable] { executable->run(); });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return with_driver([&](Driver& state) {
    return state.graph_executables.remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
