#include "tests/fuzz/random_input.h"

#include <cstring>

#include "recorder/record.h"

namespace vramscope {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kAddresses[] = {0,          0x1000,       0x200000,          0x200200,
                                   0x200400,   0x300000,     0x400000,          0x7f0000000000,
                                   1ull << 63, ~uint64_t{0}, ~uint64_t{0} - 511};
constexpr uint64_t kSizes[] = {0, 1, 512, 1024, kMiB, 2 * kMiB, 1ull << 40, 1ull << 63, ~0ull};
constexpr uint64_t kHandles[] = {0, 1, 2, 3, 0x200000, ~0ull};
constexpr uint64_t kSmall[] = {0, 1, 2, 3, 4, 5, 40, 0xffff, 0xffffffff};

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string definition(RecordKind kind, uint32_t id, const std::string& payload) {
  const size_t words = 1 + (payload.size() + 7) / 8;
  std::string record = bytes_of(DefinitionHeader{kind, 0, static_cast<uint16_t>(words), id});
  record += payload;
  record.resize(words * 8);
  return record;
}

std::string random_text(Random& random) {
  std::string text;
  for (uint64_t i = random.below(20); i > 0; --i) text += static_cast<char>(random.below(256));
  return random.one_in(3) ? text : "/usr/lib/libc10_cuda.so";
}

std::string random_module(Random& random) {
  const std::string build_id = random_text(random);
  const std::string path = random_text(random);
  ModuleDefinition module{};
  module.begin = random.one_of(kAddresses);
  module.end = random.one_in(4) ? random.one_of(kAddresses) : module.begin + kMiB;
  module.bias = random.one_of(kAddresses);
  module.build_id_bytes =
      static_cast<uint32_t>(random.one_in(8) ? random.one_of(kSmall) : build_id.size());
  module.path_bytes = static_cast<uint32_t>(random.one_in(8) ? random.one_of(kSmall) : path.size());
  return bytes_of(module) + build_id + path;
}

std::string random_code(Random& random) {
  const std::string text = random_text(random);
  PythonCodeDefinition code{};
  code.first_line = static_cast<int32_t>(random.one_of(kSmall));
  code.python_minor = static_cast<uint16_t>(7 + random.below(9));
  code.name_bytes = code.qualified_name_bytes = code.filename_bytes =
      static_cast<uint16_t>(random.below(30));
  code.line_table_bytes = static_cast<uint32_t>(random.one_of(kSmall));
  return bytes_of(code) + text + text + text + text;
}

std::string random_frames(Random& random) {
  std::string frames;
  for (uint64_t i = random.below(12); i > 0; --i)
    frames += random.one_in(2) ? bytes_of(random.one_of(kAddresses))
                               : bytes_of(PythonFrame{static_cast<uint32_t>(random.one_of(kSmall)),
                                                      static_cast<uint32_t>(random.below(64))});
  return frames;
}

std::string random_definition(Random& random) {
  const auto id = static_cast<uint32_t>(random.one_of(kSmall));
  const auto kind = static_cast<RecordKind>(random.below(12));
  switch (kind) {
    case RecordKind::kModule:
      return definition(kind, id, random_module(random));
    case RecordKind::kPythonCode:
      return definition(kind, id, random_code(random));
    case RecordKind::kNativeStack:
    case RecordKind::kPythonStack:
      return definition(kind, id, random_frames(random));
    default:
      return definition(kind, id, random_text(random));
  }
}

std::string random_event(Random& random) {
  Event event{};
  event.kind = static_cast<RecordKind>(static_cast<uint64_t>(kFirstEvent) + random.below(50));
  if (random.one_in(2)) event.kind = random.one_in(2) ? RecordKind::kBlockAlloc : RecordKind::kMap;
  event.device = static_cast<int8_t>(random.one_in(10) ? random.below(256) : random.below(3));
  event.api = static_cast<uint16_t>(random.one_of(kSmall));
  event.result = random.one_in(6) ? static_cast<int32_t>(random.below(4)) : 0;
  event.ticks = random.one_in(20) ? random.number() : random.below(10'000);
  event.address = random.one_of(kAddresses);
  event.size = random.one_of(kSizes);
  event.stream = random.one_of(kHandles);
  event.handle = random.one_of(kHandles);
  event.extra = random.one_in(2) ? random.one_of(kSizes) : random.below(8);
  event.python_stack = static_cast<uint32_t>(random.one_of(kSmall));
  event.native_stack = static_cast<uint32_t>(random.one_of(kSmall));
  return bytes_of(event);
}

}  // namespace

std::string random_records(Random& random) {
  std::string records;
  if (!random.one_in(8)) records += definition(RecordKind::kThread, 100, "thread");
  for (uint64_t i = random.below(150); i > 0; --i)
    records += random.one_in(4) ? random_definition(random) : random_event(random);
  return records;
}

std::string damaged(std::string bytes, Random& random) {
  for (uint64_t i = 1 + random.below(4); i > 0 && !bytes.empty(); --i) {
    const size_t at = random.below(bytes.size());
    const size_t count = 1 + random.below(std::min<size_t>(64, bytes.size() - at));
    switch (random.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 2: {
        const uint64_t number = random.one_of(kSizes);
        std::memcpy(bytes.data() + at, &number, std::min(sizeof number, bytes.size() - at));
        break;
      }
      case 3:
        bytes.erase(at, count);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, count));
        break;
      default:
        if (random.one_in(4)) bytes.resize(at);
    }
  }
  return bytes;
}

}  // namespace vramscope
