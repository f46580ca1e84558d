// Writes a session file of any length: the life of a training job's blocks, repeated, with Python
// and native stacks, from several threads.
//
// Usage: session_generator FILE EVENTS THREADS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "recorder/record.h"
#include "recorder/session_writer.h"

namespace vramscope {
namespace {

constexpr size_t kChunkBytes = 1 << 20;  // what the drainer takes from a ring of the default size
constexpr uint32_t kCodes = 500;
constexpr uint32_t kStacks = 2000;
constexpr uint32_t kPythonFrames = 30;
constexpr uint32_t kNativeFrames = 50;
constexpr uint64_t kLiveBlocks = 1500;  // of a thread
constexpr uint64_t kBlockBytes = 1 << 20;
constexpr uint64_t kSegmentBytes = kLiveBlocks * kBlockBytes;
constexpr uint64_t kCodeBegin = 0x7f00'0000'0000;
constexpr uint64_t kCodeBytes = 100 << 20;

// One thread's stream of records.
class Stream {
 public:
  Stream(SessionWriter& writer, uint32_t ring) : writer_(writer), ring_(ring) {
    address_ = 0x7000'0000'0000 + ring * 2 * kSegmentBytes;
  }

  bool is_written = true;

  void define(RecordKind kind, uint32_t id, const std::string& payload) {
    const size_t words = 1 + (payload.size() + 7) / 8;
    const DefinitionHeader header{kind, 0, static_cast<uint16_t>(words), id};
    std::vector<char> record(words * 8);
    std::memcpy(record.data(), &header, sizeof header);
    std::memcpy(record.data() + sizeof header, payload.data(), payload.size());
    append(record.data(), record.size());
  }

  void add(Event event) {
    ++events_;
    append(&event, sizeof event);
  }

  // The event of `step`: blocks are handed out until kLiveBlocks live, then they are freed in
  // another order, and so on.
  void add_step(uint64_t step, uint64_t ticks) {
    const uint64_t place = step % kLiveBlocks;
    const bool frees = step / kLiveBlocks % 2 == 1;
    const uint64_t block = frees ? place * 7 % kLiveBlocks : place;
    Event event{};
    event.kind = frees ? RecordKind::kBlockFree : RecordKind::kBlockAlloc;
    event.ticks = ticks;
    event.address = address_ + block * kBlockBytes;
    event.size = frees ? 0 : kBlockBytes - block % 8 * 512;
    event.python_stack = 1 + static_cast<uint32_t>((step * 31 + step / kLiveBlocks) % kStacks);
    event.native_stack = event.python_stack;
    add(event);
  }

  uint64_t address() const { return address_; }

  void flush() {
    if (records_.empty()) return;
    is_written &=
        writer_.write_records(ring_, position_, std::as_bytes(std::span(records_)), events_);
    position_ += records_.size();
    records_.clear();
    events_ = 0;
  }

 private:
  void append(const void* bytes, size_t count) {
    if (records_.size() + count > kChunkBytes) flush();
    const auto* from = static_cast<const char*>(bytes);
    records_.insert(records_.end(), from, from + count);
  }

  SessionWriter& writer_;
  const uint32_t ring_;
  uint64_t address_;
  uint64_t position_ = 0;
  uint32_t events_ = 0;
  std::vector<char> records_;
};

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void define_code(Stream& stream, uint32_t id) {
  const std::string name = "function_" + std::to_string(id);
  const std::string file = "/home/user/project/module_" + std::to_string(id % 40) + ".py";
  PythonCodeDefinition code{};
  code.first_line = static_cast<int32_t>(10 * id);
  code.python_minor = 11;
  code.name_bytes = code.qualified_name_bytes = static_cast<uint16_t>(name.size());
  code.filename_bytes = static_cast<uint16_t>(file.size());
  stream.define(RecordKind::kPythonCode, id, bytes_of(code) + name + name + file);
}

void define_stacks(Stream& stream, uint32_t id) {
  std::string python;
  for (uint32_t i = 0; i < kPythonFrames; ++i) {
    const PythonFrame frame{1 + (id * (i < 4 ? 13 : 0) + i * 17) % kCodes, 2 * i};
    python += bytes_of(frame);
  }
  std::string native;
  for (uint32_t i = 0; i < kNativeFrames; ++i) {
    const uint64_t offset = (uint64_t{id} * (i < 8 ? 7919 : 0) + i * 104'729) * 16;
    native += bytes_of(kCodeBegin + offset % kCodeBytes);
  }
  stream.define(RecordKind::kPythonStack, id, python);
  stream.define(RecordKind::kNativeStack, id, native);
}

void define_everything(Stream& stream) {
  const std::string path = "/usr/lib/libtorch_cuda.so";
  const ModuleDefinition module{kCodeBegin, kCodeBegin + kCodeBytes, kCodeBegin, 0,
                                static_cast<uint32_t>(path.size())};
  stream.define(RecordKind::kModule, 1, bytes_of(module) + path);
  for (uint32_t id = 1; id <= kCodes; ++id) define_code(stream, id);
  for (uint32_t id = 1; id <= kStacks; ++id) define_stacks(stream, id);
}

void begin_thread(Stream& stream, uint32_t thread_id) {
  ThreadDefinition thread{};
  std::snprintf(thread.name, sizeof thread.name, "thread %u", thread_id);
  stream.define(RecordKind::kThread, thread_id, bytes_of(thread));
  stream.define(RecordKind::kApi, 1, "cuMemAlloc_v2");
  Event segment{};
  segment.kind = RecordKind::kDeviceAlloc;
  segment.api = 1;
  segment.ticks = 1000 + thread_id;
  segment.address = stream.address();
  segment.size = kSegmentBytes;
  stream.add(segment);
}

bool generate(const std::string& path, uint64_t events, uint32_t threads) {
  const auto writer = SessionWriter::create(path);
  if (!writer) return false;
  InfoMap info;
  info["pid"] = "4711";
  info["host"] = "generated";
  info["command"] = "python train.py";
  info["start_ticks"] = "0";
  info["start_unix_ns"] = "1700000000000000000";
  info["finished"] = "1";
  bool is_written = writer->write_info(info);
  std::vector<Stream> streams;
  for (uint32_t i = 0; i < threads; ++i) streams.emplace_back(*writer, i);
  define_everything(streams.front());
  for (uint32_t i = 0; i < threads; ++i) begin_thread(streams[i], 100 + i);
  for (uint64_t i = threads; i < events; ++i)
    streams[i % threads].add_step(i / threads - 1, 2000 + i * 150 + i * 2654435761 % 97);
  for (Stream& stream : streams) {
    stream.flush();
    is_written &= stream.is_written;
  }
  return writer->finish() && is_written;
}

}  // namespace
}  // namespace vramscope

int main(int argc, char** argv) {
  if (argc != 4 || std::atoll(argv[2]) < 0 || std::atoi(argv[3]) < 1) {
    std::fprintf(stderr, "usage: session_generator FILE EVENTS THREADS\n");
    return 2;
  }
  std::remove(argv[1]);
  const auto threads = static_cast<uint32_t>(std::atoi(argv[3]));
  if (vramscope::generate(argv[1], static_cast<uint64_t>(std::atoll(argv[2])), threads)) return 0;
  std::perror(argv[1]);
  return 1;
}
