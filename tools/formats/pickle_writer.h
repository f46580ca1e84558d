// Writes plain values as a pickle that PyTorch's viewer reads. Twin: pickle_reader.
//
// Protocol 2 with explicit memo ids, lists in batches of 1000 (the viewer's JavaScript pushes a
// batch through one call and its stack overflows at a hundred thousand), integers of at most 8
// bytes, valid UTF-8.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vramscope {

class PickleWriter {
 public:
  // Writes the header; finish() writes the end. Errors show in the stream's state. `out` must
  // outlive the writer.
  explicit PickleWriter(std::ostream& out);
  void finish();

  void none();
  void boolean(bool value);
  void integer(int64_t value);
  void real(double value);
  void text(std::string_view value);  // each different text is written once

  // write_item(i) writes exactly one value, for i in [0, count).
  template <typename WriteItem>
  void list(size_t count, WriteItem write_item);

  // write_items() writes keys and values by turns.
  template <typename WriteItems>
  void dict(WriteItems write_items);

  // write_items() writes the items.
  template <typename WriteItems>
  void tuple(WriteItems write_items);

  // Gives the value that was written last an id, under which get() writes it again: the same
  // object, not an equal one.
  uint32_t put();
  void get(uint32_t id);

 private:
  static constexpr size_t kBatch = 1000;
  static constexpr size_t kBufferBytes = 1 << 20;

  void byte(uint8_t value) {
    if (buffer_.size() >= kBufferBytes) flush();
    buffer_.push_back(static_cast<char>(value));
  }
  void little_endian(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  void flush();

  void opcode_mark();
  void opcode_empty_list();
  void opcode_appends();
  void opcode_empty_dict();
  void opcode_setitems();
  void opcode_tuple();

  std::ostream& out_;
  std::string buffer_;
  uint32_t next_id_ = 0;
  std::unordered_map<std::string, uint32_t> texts_;
};

template <typename WriteItem>
void PickleWriter::list(size_t count, WriteItem write_item) {
  opcode_empty_list();
  for (size_t begin = 0; begin < count; begin += kBatch) {
    opcode_mark();
    const size_t end = count - begin < kBatch ? count : begin + kBatch;
    for (size_t i = begin; i < end; ++i) write_item(i);
    opcode_appends();
  }
}

template <typename WriteItems>
void PickleWriter::dict(WriteItems write_items) {
  opcode_empty_dict();
  opcode_mark();
  write_items();
  opcode_setitems();
}

template <typename WriteItems>
void PickleWriter::tuple(WriteItems write_items) {
  opcode_mark();
  write_items();
  opcode_tuple();
}

}  // namespace vramscope
