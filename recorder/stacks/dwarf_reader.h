// Reads DWARF's encodings from memory that the loader or a JIT compiler vouches for: it is not
// hostile, but what does not fit is refused, never guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace vramscope {

class DwarfReader {
 public:
  explicit DwarfReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  // Something was read behind the end; all values since then are 0.
  bool has_failed() const { return has_failed_; }
  std::span<const uint8_t> rest() const { return rest_; }

  std::span<const uint8_t> bytes(uint64_t count) {
    if (count > rest_.size()) {
      has_failed_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <typename Value>
  Value fixed() {
    Value value{};
    const auto source = bytes(sizeof(Value));
    if (!source.empty()) std::memcpy(&value, source.data(), sizeof(Value));
    return value;
  }

  uint64_t uleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    for (uint8_t byte = 0x80; (byte & 0x80) != 0 && !has_failed_; shift += 7) {
      byte = fixed<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    return value;
  }

  int64_t sleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    for (; (byte & 0x80) != 0 && !has_failed_; shift += 7) {
      byte = fixed<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

 private:
  std::span<const uint8_t> rest_;
  bool has_failed_ = false;
};

}  // namespace vramscope
