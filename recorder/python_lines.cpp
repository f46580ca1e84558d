#include "recorder/python_lines.h"

namespace vramscope {
namespace {

constexpr int32_t kNoLine = -1;
constexpr uint32_t kCodeUnitBytes = 2;

// Reads the bytes of a table; behind its end there are only zeros.
class TableCursor {
 public:
  explicit TableCursor(std::string_view table) : rest_(table) {}

  bool at_end() const { return rest_.empty(); }

  uint8_t take() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  // Six bits a byte, least significant first; bit 6 says that more follow.
  uint32_t take_varint() {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const uint8_t byte = take();
      value |= static_cast<uint32_t>(byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    return value;
  }

  // The sign is in the lowest bit.
  int32_t take_signed_varint() {
    const uint32_t value = take_varint();
    const auto magnitude = static_cast<int32_t>(value >> 1);
    return (value & 1) != 0 ? -magnitude : magnitude;
  }

 private:
  std::string_view rest_;
};

// Lines of a damaged table may run out of range: wrap instead of overflow.
int32_t add(int32_t line, int32_t delta) {
  return static_cast<int32_t>(static_cast<uint32_t>(line) + static_cast<uint32_t>(delta));
}

// Pairs (bytes, signed lines): after so many bytes of code the line changes by so much.
int32_t line_by_lnotab(TableCursor table, int32_t line, uint32_t instruction) {
  uint64_t address = 0;
  while (!table.at_end()) {
    address += table.take();
    if (address > instruction) break;
    line = add(line, static_cast<int8_t>(table.take()));
  }
  return line;
}

// Pairs (bytes, signed lines): the line changes by so much, and holds for so many bytes. -128:
// none.
int32_t line_by_pep626(TableCursor table, int32_t line, uint32_t instruction) {
  constexpr int8_t kNoLineDelta = -128;
  uint64_t end = 0;
  while (!table.at_end()) {
    end += table.take();
    const auto delta = static_cast<int8_t>(table.take());
    if (delta != kNoLineDelta) line = add(line, delta);
    if (instruction < end) return delta == kNoLineDelta ? kNoLine : line;
  }
  return kNoLine;
}

// Entries: | 1 | form, 4 bits | length - 1 in code units, 3 bits |, then what the form says.
int32_t line_by_location_table(TableCursor table, int32_t line, uint32_t instruction) {
  constexpr unsigned kFirstOneLine = 10;  // 10, 11, 12: line += form - 10, two column bytes
  constexpr unsigned kNoColumns = 13;
  constexpr unsigned kLong = 14;
  constexpr unsigned kNone = 15;
  uint64_t end = 0;
  while (!table.at_end()) {
    const uint8_t first = table.take();
    const unsigned form = (first >> 3) & 15;
    end += ((first & 7u) + 1) * kCodeUnitBytes;
    if (form == kLong) {
      line = add(line, table.take_signed_varint());
      for (int i = 0; i < 3; ++i) table.take_varint();  // end line, column, end column
    } else if (form == kNoColumns) {
      line = add(line, table.take_signed_varint());
    } else if (form >= kFirstOneLine && form < kNoColumns) {
      line = add(line, static_cast<int32_t>(form - kFirstOneLine));
      table.take();
      table.take();
    } else if (form < kFirstOneLine) {
      table.take();
    }
    if (instruction < end) return form == kNone ? kNoLine : line;
  }
  return kNoLine;
}

}  // namespace

int32_t python_line(std::string_view line_table, uint16_t python_minor, int32_t first_line,
                    uint32_t instruction) {
  if (static_cast<int32_t>(instruction) < 0) return first_line;
  const TableCursor table(line_table);
  if (python_minor <= 9) return line_by_lnotab(table, first_line, instruction);
  if (python_minor == 10) return line_by_pep626(table, first_line, instruction);
  return line_by_location_table(table, first_line, instruction);
}

}  // namespace vramscope
