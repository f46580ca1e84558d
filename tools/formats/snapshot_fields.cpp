#include "tools/formats/snapshot_fields.h"

#include <string>

namespace vramscope {

using Kind = PickleDocument::Kind;

namespace {

const char* kind_name(Kind kind) {
  static constexpr const char* kNames[] = {"None",   "a bool", "an integer", "a float",
                                           "a text", "a list", "a tuple",    "a dict"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

void SnapshotFields::fail_kind(NodeId node, const std::string& what, const char* wanted) const {
  fail(node, what + " is " + kind_name(document_.kind(node)) + ", not " + wanted);
}

std::optional<NodeId> SnapshotFields::find(NodeId node, std::string_view key) const {
  if (document_.kind(node) != Kind::kDict)
    fail_kind(node, "what should hold '" + std::string(key) + "'", "a dict");
  const auto items = document_.items(node);
  for (size_t i = items.size(); i >= 2; i -= 2) {
    const NodeId name = items[i - 2];
    if (document_.kind(name) == Kind::kText && document_.text(name) == key) return items[i - 1];
  }
  return std::nullopt;
}

NodeId SnapshotFields::at(NodeId node, std::string_view key) const {
  const auto value = find(node, key);
  if (!value) fail(node, "no '" + std::string(key) + "' in a snapshot's dict");
  return *value;
}

std::span<const NodeId> SnapshotFields::dict(NodeId node, const char* what) const {
  if (document_.kind(node) != Kind::kDict) fail_kind(node, what, "a dict");
  return document_.items(node);
}

std::span<const NodeId> SnapshotFields::list(NodeId node, const char* what) const {
  const Kind kind = document_.kind(node);
  if (kind != Kind::kList && kind != Kind::kTuple) fail_kind(node, what, "a list");
  return document_.items(node);
}

std::string_view SnapshotFields::text(NodeId node, const char* what) const {
  if (document_.kind(node) != Kind::kText) fail_kind(node, what, "a text");
  return document_.text(node);
}

int64_t SnapshotFields::integer(NodeId node, const char* what) const {
  const Kind kind = document_.kind(node);
  if (kind != Kind::kInteger && kind != Kind::kBool) fail_kind(node, what, "an integer");
  return document_.integer(node);
}

uint64_t SnapshotFields::bytes(NodeId node, const char* what) const {
  const int64_t value = integer(node, what);
  if (value < 0) fail(node, std::string(what) + " is negative");
  return static_cast<uint64_t>(value);
}

int64_t SnapshotFields::integer_or(NodeId dict, std::string_view key, int64_t fallback) const {
  const auto value = find(dict, key);
  return value ? integer(*value, std::string(key).c_str()) : fallback;
}

uint64_t SnapshotFields::bytes_or(NodeId dict, std::string_view key, uint64_t fallback) const {
  const auto value = find(dict, key);
  return value ? bytes(*value, std::string(key).c_str()) : fallback;
}

std::string_view SnapshotFields::text_or(NodeId dict, std::string_view key,
                                         std::string_view fallback) const {
  const auto value = find(dict, key);
  return value ? text(*value, std::string(key).c_str()) : fallback;
}

Value SnapshotFields::copy(NodeId node, int depth) {
  if (depth > kMaxDepth) fail(node, "values nested too deeply");
  if (copies_left_-- == 0) fail(node, "too many nested values");
  Value value;
  switch (document_.kind(node)) {
    case Kind::kNone:
      return value;
    case Kind::kBool:
    case Kind::kInteger:
      value.kind = document_.kind(node) == Kind::kBool ? Value::Kind::kBool : Value::Kind::kInteger;
      value.integer = document_.integer(node);
      return value;
    case Kind::kReal:
      value.kind = Value::Kind::kReal;
      value.real = document_.real(node);
      return value;
    case Kind::kText:
      value.kind = Value::Kind::kText;
      value.text = document_.text(node);
      return value;
    case Kind::kList:
      value.kind = Value::Kind::kList;
      break;
    case Kind::kTuple:
      value.kind = Value::Kind::kTuple;
      break;
    case Kind::kDict:
      value.kind = Value::Kind::kDict;
      break;
  }
  for (const NodeId item : document_.items(node)) value.items.push_back(copy(item, depth + 1));
  return value;
}

}  // namespace vramscope
