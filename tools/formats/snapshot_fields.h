// Typed access to the dicts and lists of a snapshot's pickle; what does not fit is a PickleError at
// the value's offset.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tools/formats/pickle_reader.h"
#include "tools/model/value.h"

namespace vramscope {

class SnapshotFields {
 public:
  explicit SnapshotFields(const PickleDocument& document, size_t input_bytes)
      : document_(document), copies_left_(kFreeCopies + input_bytes / kInputBytesPerCopy) {}

  // The value of `key` in the dict `node`; the last one counts.
  std::optional<NodeId> find(NodeId node, std::string_view key) const;
  NodeId at(NodeId node, std::string_view key) const;

  std::span<const NodeId> dict(NodeId node, const char* what) const;
  std::span<const NodeId> list(NodeId node, const char* what) const;  // or a tuple
  std::string_view text(NodeId node, const char* what) const;
  int64_t integer(NodeId node, const char* what) const;  // bool counts as 0 or 1
  uint64_t bytes(NodeId node, const char* what) const;   // an integer >= 0

  // Fields that may be missing.
  int64_t integer_or(NodeId dict, std::string_view key, int64_t fallback) const;
  uint64_t bytes_or(NodeId dict, std::string_view key, uint64_t fallback) const;
  std::string_view text_or(NodeId dict, std::string_view key, std::string_view fallback) const;

  // A copy of a value that is not interpreted. A pickle can name an exponential tree, or one that
  // contains itself, in a few bytes: depth and the number of all values copied are bounded.
  Value copy(NodeId node, int depth = 0);

  [[noreturn]] void fail(NodeId node, const std::string& what) const {
    throw PickleError(what, document_.offset(node));
  }

 private:
  // Real snapshots have one copied value per 30 bytes at most.
  static constexpr size_t kFreeCopies = 1'000'000;
  static constexpr size_t kInputBytesPerCopy = 16;
  static constexpr int kMaxDepth = 64;

  [[noreturn]] void fail_kind(NodeId node, const std::string& what, const char* wanted) const;

  const PickleDocument& document_;
  size_t copies_left_;
};

}  // namespace vramscope
