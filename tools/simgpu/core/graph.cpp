#include "tools/simgpu/core/graph.h"

#include <algorithm>
#include <deque>
#include <map>

namespace simgpu {
namespace {

const char* type_name(NodeType type) {
  switch (type) {
    case NodeType::kKernel:
      return "KERNEL";
    case NodeType::kMemcpy:
      return "MEMCPY";
    case NodeType::kMemset:
      return "MEMSET";
    case NodeType::kHost:
      return "HOST";
    case NodeType::kGraph:
      return "GRAPH";
    case NodeType::kEmpty:
      return "EMPTY";
    case NodeType::kWaitEvent:
      return "WAIT_EVENT";
    case NodeType::kEventRecord:
      return "EVENT_RECORD";
    case NodeType::kMemAlloc:
      return "MEM_ALLOC";
    case NodeType::kMemFree:
      return "MEM_FREE";
    case NodeType::kBatchMemOp:
      return "BATCH_MEM_OP";
  }
  return "UNKNOWN";
}

}  // namespace

GraphNode* Graph::add(NodeType type, std::vector<GraphNode*> dependencies, Effect effect,
                      Ticks duration, std::string label) {
  nodes_.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(effect), duration,
                                                         std::move(dependencies), std::move(label),
                                                         ++last_node_id_, this}));
  return nodes_.back().get();
}

bool Graph::owns(const GraphNode* node) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [node](const auto& candidate) { return candidate.get() == node; });
}

void Graph::remove(GraphNode* node) {
  for (const auto& other : nodes_) std::erase(other->dependencies, node);
  std::erase_if(nodes_, [node](const auto& candidate) { return candidate.get() == node; });
}

std::vector<const GraphNode*> Graph::ordered() const {
  std::map<const GraphNode*, size_t> open_dependencies;
  std::map<const GraphNode*, std::vector<const GraphNode*>> dependents;
  std::deque<const GraphNode*> ready;
  for (const auto& node : nodes_) {
    open_dependencies[node.get()] = node->dependencies.size();
    for (const GraphNode* dependency : node->dependencies) {
      dependents[dependency].push_back(node.get());
    }
    if (node->dependencies.empty()) ready.push_back(node.get());
  }
  std::vector<const GraphNode*> order;
  while (!ready.empty()) {
    const GraphNode* node = ready.front();
    ready.pop_front();
    order.push_back(node);
    for (const GraphNode* dependent : dependents[node]) {
      if (--open_dependencies[dependent] == 0) ready.push_back(dependent);
    }
  }
  return order;
}

GraphExecutable::GraphExecutable(const Graph& graph) : id(graph.id()) {
  for (const GraphNode* node : graph.ordered()) {
    if (node->effect) effects.push_back(node->effect);
    duration += node->duration;
  }
}

void GraphExecutable::run() const {
  for (const Effect& effect : effects) effect();
}

std::string dot_text(const Graph& graph) {
  std::string text = "digraph graph_" + std::to_string(graph.id()) + " {\n";
  for (const auto& node : graph.nodes()) {
    const std::string label = node->label.empty() ? "" : " " + node->label;
    text += "  node_" + std::to_string(node->id) + " [label=\"" + type_name(node->type) + label +
            "\"];\n";
  }
  for (const auto& node : graph.nodes()) {
    for (const GraphNode* dependency : node->dependencies) {
      text += "  node_" + std::to_string(dependency->id) + " -> node_" + std::to_string(node->id) +
              ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace simgpu
