#include "recorder/stacks/python_codes.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include "recorder/stacks/python_strings.h"
#include "recorder/stacks/stack_ids.h"

namespace vramscope {
namespace {

// Fixed, so that nothing is ever moved; programs have 10,000 to 100,000 code objects.
constexpr size_t kBuckets = 1 << 14;
constexpr size_t kCodesPerChunk = 256;

struct Chunk {
  std::atomic<size_t> taken{0};
  KnownPythonCode codes[kCodesPerChunk];
};

struct CodeTable {
  std::atomic<KnownPythonCode*> buckets[kBuckets];
  std::atomic<Chunk*> chunk;  // that entries are taken from
  std::atomic<uint32_t> last_id;
};
constinit CodeTable table{};

std::atomic<KnownPythonCode*>& bucket(const void* address) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  const uint64_t hash = reinterpret_cast<uintptr_t>(address) * kGoldenRatio;
  return table.buckets[hash >> (64 - std::bit_width(kBuckets - 1))];
}

// In the chain that begins with `code`; nullptr if it is not there.
KnownPythonCode* find_in(KnownPythonCode* code, const void* address) {
  while (code != nullptr && code->address != address) code = code->next;
  return code;
}

// nullptr: no memory.
KnownPythonCode* take_entry() {
  for (;;) {
    Chunk* chunk = table.chunk.load(std::memory_order_acquire);
    if (chunk != nullptr) {
      const size_t i = chunk->taken.fetch_add(1, std::memory_order_relaxed);
      if (i < kCodesPerChunk) return &chunk->codes[i];
    }
    auto* fresh = new (std::nothrow) Chunk;  // never freed once it is in use
    if (fresh == nullptr) return nullptr;
    if (!table.chunk.compare_exchange_strong(chunk, fresh)) delete fresh;
  }
}

// The entry of `address`, added if there is none.
KnownPythonCode* entry_of(const void* address) {
  std::atomic<KnownPythonCode*>& first = bucket(address);
  KnownPythonCode* newest = first.load(std::memory_order_acquire);
  if (KnownPythonCode* known = find_in(newest, address)) return known;
  KnownPythonCode* added = take_entry();
  if (added == nullptr) return nullptr;
  added->address = address;
  do {
    // Another thread may have been faster; then `added` stays unused.
    if (KnownPythonCode* known = find_in(newest, address)) return known;
    added->next = newest;
  } while (!first.compare_exchange_weak(newest, added, std::memory_order_acq_rel,
                                        std::memory_order_acquire));
  return added;
}

void take_id_away(KnownPythonCode& code) {
  code.is_defined.store(false, std::memory_order_relaxed);
  code.id.store(0, std::memory_order_release);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

KnownPythonCode* find_or_add_python_code(const void* address) {
  KnownPythonCode* code = entry_of(address);
  if (code == nullptr) return nullptr;
  if (uint32_t id = code->id.load(std::memory_order_acquire); id == 0) {
    code->id.compare_exchange_strong(id, next_id(table.last_id));
  }
  return code;
}

bool define_python_code(KnownPythonCode& code, const PythonLayout& layout, DefinitionSink& sink) {
  if (code.is_defined.load(std::memory_order_acquire)) return true;
  constexpr size_t kLongestString = UINT16_MAX;
  bool truncated = false;
  const auto text = [&](uint16_t offset) {
    if (offset == kAbsent) return std::string();
    return read_python_string(layout, load_field<const void*>(code.address, offset), kLongestString,
                              truncated);
  };
  const std::string name = text(layout.code_name);
  const std::string filename = text(layout.code_filename);
  std::string qualified_name = text(layout.code_qualified_name);
  if (layout.code_qualified_name == kAbsent) qualified_name = name;

  std::span<const std::byte> line_table;
  if (const auto* table_object = load_field<const void*>(code.address, layout.code_line_table)) {
    const auto size = load_field<int64_t>(table_object, layout.variable_size);
    line_table = {static_cast<const std::byte*>(table_object) + layout.bytes_data,
                  static_cast<size_t>(std::max<int64_t>(size, 0))};
  }

  PythonCodeDefinition definition{};
  definition.first_line = load_field<int32_t>(code.address, layout.code_first_line);
  definition.python_minor = layout.minor;
  definition.name_bytes = static_cast<uint16_t>(name.size());
  definition.qualified_name_bytes = static_cast<uint16_t>(qualified_name.size());
  definition.filename_bytes = static_cast<uint16_t>(filename.size());

  const auto write = [&](std::span<const std::byte> lines, bool cut) {
    definition.line_table_bytes = static_cast<uint32_t>(lines.size());
    return sink.define(RecordKind::kPythonCode, code.id.load(std::memory_order_relaxed),
                       {std::as_bytes(std::span(&definition, 1)), bytes_of(name),
                        bytes_of(qualified_name), bytes_of(filename), lines},
                       cut ? kTruncatedDefinition : uint8_t{0});
  };
  // A line table that no ring could ever hold (a module of 100,000 lines) must not cost the name:
  // without it the frame has its first line.
  constexpr size_t kLargeLineTable = 16 << 10;
  constexpr size_t kLongestLineTable = 256 << 10;
  const bool fits = line_table.size() <= kLongestLineTable;
  if (!(fits && write(line_table, truncated)) &&
      !(line_table.size() > kLargeLineTable && write({}, true))) {
    return false;
  }
  code.is_defined.store(true, std::memory_order_release);
  return true;
}

void bury_python_code(const void* address) {
  KnownPythonCode* code = find_in(bucket(address).load(std::memory_order_acquire), address);
  if (code == nullptr || code->id.load(std::memory_order_relaxed) == 0) return;
  take_id_away(*code);
  python_code_deaths.fetch_add(1, std::memory_order_relaxed);
}

void forget_python_codes_after_fork() {
  for (const std::atomic<KnownPythonCode*>& first : table.buckets) {
    for (KnownPythonCode* code = first.load(); code != nullptr; code = code->next)
      take_id_away(*code);
  }
  python_code_deaths.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace vramscope
