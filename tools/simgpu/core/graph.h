// Graphs of work: what capture or the graph calls build, and what a launch replays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/simgpu/core/virtual_clock.h"

namespace simgpu {

// The numbers are the driver API's (CUgraphNodeType).
enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWaitEvent = 6,
  kEventRecord = 7,
  kMemAlloc = 10,
  kMemFree = 11,
  kBatchMemOp = 12,
};

// What a piece of work does to data, beside taking time. Runs without any lock held.
using Effect = std::function<void()>;

class Graph;

struct GraphNode {
  NodeType type = NodeType::kEmpty;
  Effect effect;  // may be empty
  Ticks duration = 0;
  std::vector<GraphNode*> dependencies;  // of the same graph
  std::string label;                     // for the dot file: a kernel's name
  uint64_t id = 0;                       // within the graph
  Graph* graph = nullptr;
};

// A program's object whose life graphs prolong.
struct UserObject {
  std::function<void()> destroy;
  unsigned references;
};

// Owns its nodes. Not thread-safe.
class Graph {
 public:
  explicit Graph(uint64_t id) : id_(id) {}

  GraphNode* add(NodeType type, std::vector<GraphNode*> dependencies, Effect effect,
                 Ticks duration = 0, std::string label = {});
  void remove(GraphNode* node);
  bool owns(const GraphNode* node) const;

  // In an order in which every node comes after its dependencies.
  std::vector<const GraphNode*> ordered() const;

  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  uint64_t id() const { return id_; }

  std::vector<UserObject*> user_objects;  // one entry for each reference that the graph owns

 private:
  uint64_t id_;
  uint64_t last_node_id_ = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

// A graph made ready to launch: a copy, independent of the graph's later life.
struct GraphExecutable {
  explicit GraphExecutable(const Graph& graph);

  // Everything that one launch does, in order.
  void run() const;

  std::vector<Effect> effects;
  Ticks duration = 0;  // nodes run one after the other
  uint64_t id;
};

// The graph in Graphviz' language, one line for each node and each edge.
std::string dot_text(const Graph& graph);

}  // namespace simgpu
