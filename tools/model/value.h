// A plain value of a snapshot that is kept but not interpreted: allocator settings, user metadata.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope {

struct Value {
  enum class Kind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kTuple, kDict };

  Kind kind = Kind::kNone;
  int64_t integer = 0;  // kBool: 0 or 1
  double real = 0;
  std::string text;
  std::vector<Value> items;  // kDict: key, value, key, value...

  bool operator==(const Value&) const = default;
};

}  // namespace vramscope
