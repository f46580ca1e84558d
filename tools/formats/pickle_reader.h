// Reads the pickles that PyTorch writes into a tree of plain values. Twin: pickle_writer.
//
// Parses, never executes: opcodes that import or call something are errors. Understands what
// pickle.dump() writes in protocols 2 to 5 for None, bool, int, float, str, list, tuple and dict.
//
// A value is a node; containers hold the numbers of their items' nodes. Shared objects are one
// node, so the tree is in truth a graph: whoever walks it must bound depth and steps himself.
// Memory is bounded by a small multiple of the input's length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope {

class PickleError : public std::runtime_error {
 public:
  PickleError(const std::string& what, size_t offset) : std::runtime_error(what), offset(offset) {}
  size_t offset;  // in the input
};

using NodeId = uint32_t;

class PickleDocument {
 public:
  enum class Kind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kTuple, kDict };

  // Throws PickleError. `input` must outlive the document: texts point into it.
  explicit PickleDocument(std::string_view input);

  NodeId root() const { return root_; }
  size_t node_count() const { return nodes_.size(); }
  Kind kind(NodeId node) const { return nodes_[node].kind; }
  int64_t integer(NodeId node) const { return nodes_[node].integer; }
  double real(NodeId node) const { return nodes_[node].real; }
  // Any bytes: Python writes what no UTF-8 text can hold (surrogates), and files may be damaged.
  std::string_view text(NodeId node) const {
    return input_.substr(nodes_[node].begin, nodes_[node].count);
  }
  // kDict: key, value, key, value...
  std::span<const NodeId> items(NodeId node) const {
    return {items_.data() + nodes_[node].begin, nodes_[node].count};
  }
  // Where the node's opcode stands in the input: for error messages.
  size_t offset(NodeId node) const { return nodes_[node].offset; }

 private:
  friend class PickleParser;

  struct Node {
    Kind kind;
    union {
      int64_t integer;
      double real;
      size_t begin;  // kText: in input_, containers: in items_
    };
    uint32_t count = 0;     // kText: bytes, containers: items
    uint32_t capacity = 0;  // containers: room in items_ from begin on
    size_t offset = 0;
  };

  std::string_view input_;
  std::vector<Node> nodes_;
  std::vector<NodeId> items_;
  NodeId root_ = 0;
};

}  // namespace vramscope
