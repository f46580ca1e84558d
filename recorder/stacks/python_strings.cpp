#include "recorder/stacks/python_strings.h"

#include <algorithm>
#include <cstdint>

namespace vramscope {
namespace {

// What CPython keeps in front of the characters (PEP 393).
struct StringView {
  const void* data = nullptr;
  size_t length = 0;         // characters
  unsigned width = 1;        // bytes per character: 1, 2 or 4
  bool is_ascii = false;     // 7 bits: the bytes are UTF-8 already
  bool is_readable = false;  // compact: the characters follow the header
};

StringView view_string(const PythonLayout& layout, const void* object) {
  const auto state = load_field<uint32_t>(object, layout.string_state);
  const auto length = load_field<int64_t>(object, layout.string_length);
  StringView view;
  view.is_ascii = ((state >> layout.string_ascii_bit) & 1) != 0;
  view.width = (state >> layout.string_kind_shift) & 7;
  view.is_readable = ((state >> layout.string_compact_bit) & 1) != 0 && length >= 0 &&
                     (view.width == 1 || view.width == 2 || view.width == 4);
  view.length = view.is_readable ? static_cast<size_t>(length) : 0;
  view.data = static_cast<const std::byte*>(object) +
              (view.is_ascii ? layout.string_ascii_data : layout.string_compact_data);
  return view;
}

char32_t character(const StringView& view, size_t index) {
  switch (view.width) {
    case 1:
      return static_cast<const uint8_t*>(view.data)[index];
    case 2:
      return static_cast<const uint16_t*>(view.data)[index];
    default:
      return static_cast<const uint32_t*>(view.data)[index];
  }
}

size_t encode_utf8(char32_t code, char (&out)[4]) {
  constexpr char32_t kReplacement = 0xfffd;
  if ((code >= 0xd800 && code < 0xe000) || code > 0x10ffff) code = kReplacement;
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; --i) {
    out[i] = static_cast<char>(0x80 | (code & 0x3f));
    code >>= 6;
  }
  constexpr uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = static_cast<char>(kLead[length] | code);
  return length;
}

}  // namespace

std::string read_python_string(const PythonLayout& layout, const void* object, size_t limit_bytes,
                               bool& truncated) {
  std::string text;
  if (object == nullptr) return text;
  const StringView view = view_string(layout, object);
  if (view.is_ascii) {
    text.assign(static_cast<const char*>(view.data), std::min(view.length, limit_bytes));
    truncated |= view.length > limit_bytes;
    return text;
  }
  for (size_t i = 0; i < view.length; ++i) {
    char encoded[4];
    const size_t bytes = encode_utf8(character(view, i), encoded);
    if (text.size() + bytes > limit_bytes) {
      truncated = true;
      break;
    }
    text.append(encoded, bytes);
  }
  return text;
}

bool looks_like_python_string(const PythonLayout& layout, const void* object) {
  constexpr int64_t kLongestPlausible = 1 << 28;
  const StringView view = view_string(layout, object);
  return view.is_readable && load_field<int64_t>(object, layout.string_length) < kLongestPlausible;
}

}  // namespace vramscope
