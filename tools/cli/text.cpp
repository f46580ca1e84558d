#include "tools/cli/text.h"

#include <array>
#include <cstdio>

#include "tools/formats/utf8.h"

namespace vramscope {
namespace {

bool starts_character(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

size_t character_count(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += starts_character(byte);
  return count;
}

// The byte at which character number `index` starts.
size_t byte_of_character(std::string_view text, size_t index) {
  for (size_t i = 0; i < text.size(); ++i)
    if (starts_character(text[i]) && index-- == 0) return i;
  return text.size();
}

}  // namespace

std::string with_commas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t end = digits.size(); end > 3;) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

std::string binary_size(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

std::string exact_size(uint64_t bytes) {
  return bytes < 1024 ? binary_size(bytes) : binary_size(bytes) + " (" + with_commas(bytes) + " B)";
}

std::string plural(uint64_t count, std::string_view noun, std::string_view many) {
  std::string text = with_commas(count) + ' ';
  text += count == 1 || many.empty() ? noun : many;
  if (count != 1 && many.empty()) text += 's';
  return text;
}

std::string shown(std::string_view text, size_t columns) {
  std::string clean = to_utf8(text);
  for (char& c : clean)
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) c = '?';
  const size_t count = character_count(clean);
  if (count <= columns) return clean;
  const size_t kept = columns < 3 ? 0 : columns - 3;
  const size_t tail = kept - kept / 3;  // the end of a path tells more than its beginning
  return clean.substr(0, byte_of_character(clean, kept - tail)) + "..." +
         clean.substr(byte_of_character(clean, count - tail));
}

void warn_of_unreadable(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems)
    std::fprintf(stderr, "vramscope: %s; left out\n", problem.c_str());
}

}  // namespace vramscope
