#include "tools/formats/pickle_writer.h"

#include <bit>

#include "tools/formats/pickle_opcodes.h"
#include "tools/formats/utf8.h"

namespace vramscope {

PickleWriter::PickleWriter(std::ostream& out) : out_(out) {
  buffer_.reserve(kBufferBytes);
  byte(kProto);
  byte(2);
}

void PickleWriter::finish() {
  byte(kStop);
  flush();
  out_.flush();
}

void PickleWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void PickleWriter::none() { byte(kNone); }

void PickleWriter::boolean(bool value) { byte(value ? kNewTrue : kNewFalse); }

void PickleWriter::integer(int64_t value) {
  if (value >= 0 && value <= UINT8_MAX) {
    byte(kBinint1);
    little_endian(static_cast<uint64_t>(value), 1);
  } else if (value >= 0 && value <= UINT16_MAX) {
    byte(kBinint2);
    little_endian(static_cast<uint64_t>(value), 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    byte(kBinint);
    little_endian(static_cast<uint64_t>(value), 4);
  } else {
    // Two's complement in as few bytes as hold it and its sign.
    int bytes = 5;
    while (bytes < 8 && value != value << (64 - 8 * bytes) >> (64 - 8 * bytes)) ++bytes;
    byte(kLong1);
    byte(static_cast<uint8_t>(bytes));
    little_endian(static_cast<uint64_t>(value), bytes);
  }
}

void PickleWriter::real(double value) {
  byte(kBinfloat);
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 56; shift >= 0; shift -= 8) byte(static_cast<uint8_t>(bits >> shift));
}

void PickleWriter::text(std::string_view value) {
  const auto [entry, added] = texts_.try_emplace(std::string(value), next_id_);
  if (!added) return get(entry->second);
  const std::string mended = to_utf8(value);
  byte(kBinunicode);
  little_endian(mended.size(), 4);
  for (const char c : mended) byte(static_cast<uint8_t>(c));
  put();
}

uint32_t PickleWriter::put() {
  byte(next_id_ <= UINT8_MAX ? kBinput : kLongBinput);
  little_endian(next_id_, next_id_ <= UINT8_MAX ? 1 : 4);
  return next_id_++;
}

void PickleWriter::get(uint32_t id) {
  byte(id <= UINT8_MAX ? kBinget : kLongBinget);
  little_endian(id, id <= UINT8_MAX ? 1 : 4);
}

void PickleWriter::opcode_mark() { byte(kMark); }
void PickleWriter::opcode_empty_list() { byte(kEmptyList); }
void PickleWriter::opcode_appends() { byte(kAppends); }
void PickleWriter::opcode_empty_dict() { byte(kEmptyDict); }
void PickleWriter::opcode_setitems() { byte(kSetitems); }
void PickleWriter::opcode_tuple() { byte(kTuple); }

}  // namespace vramscope
