#include "recorder/stacks/python_codes.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <string>

#include "recorder/stacks/python_strings.h"
#include "recorder/stacks/spin_lock.h"

namespace vramscope {
namespace {

// Fixed, so that nothing is ever moved under the lock; programs have 10,000 to 100,000 code
// objects.
constexpr size_t kBuckets = 1 << 14;
constexpr size_t kCodesPerChunk = 256;

struct CodeTable {
  SpinLock lock;
  PythonCode* buckets[kBuckets];
  PythonCode* unused;
  std::atomic<uint32_t> last_id;
};
constinit CodeTable table{};

PythonCode*& bucket(const void* address) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  const uint64_t hash = reinterpret_cast<uintptr_t>(address) * kGoldenRatio;
  return table.buckets[hash >> (64 - std::bit_width(kBuckets - 1))];
}

PythonCode* find_locked(const void* address) {
  PythonCode* code = bucket(address);
  while (code != nullptr && code->address != address) code = code->next;
  return code;
}

// Takes an unused entry for `address`; nullptr if there is none.
PythonCode* take_locked(const void* address) {
  PythonCode* code = table.unused;
  if (code == nullptr) return nullptr;
  table.unused = code->next;
  code->address = address;
  code->is_defined.store(false, std::memory_order_relaxed);
  code->id.store(table.last_id.fetch_add(1, std::memory_order_relaxed) + 1,
                 std::memory_order_relaxed);
  code->next = bucket(address);
  bucket(address) = code;
  return code;
}

void put_back_locked(PythonCode* code) {
  code->id.store(0, std::memory_order_relaxed);
  code->next = table.unused;
  table.unused = code;
}

bool add_unused() {
  auto* chunk = new (std::nothrow) PythonCode[kCodesPerChunk];  // never freed
  if (chunk == nullptr) return false;
  const std::lock_guard guard(table.lock);
  for (size_t i = 0; i < kCodesPerChunk; ++i) put_back_locked(&chunk[i]);
  return true;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

PythonCode* find_or_add_python_code(const void* address) {
  do {
    const std::lock_guard guard(table.lock);
    if (PythonCode* known = find_locked(address)) return known;
    if (PythonCode* added = take_locked(address)) return added;
  } while (add_unused());
  return nullptr;
}

bool define_python_code(PythonCode& code, const PythonLayout& layout, DefinitionSink& sink) {
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
  const std::lock_guard guard(table.lock);
  PythonCode** link = &bucket(address);
  while (*link != nullptr && (*link)->address != address) link = &(*link)->next;
  PythonCode* code = *link;
  if (code == nullptr) return;
  *link = code->next;
  put_back_locked(code);
  python_code_deaths.fetch_add(1, std::memory_order_relaxed);
}

void forget_python_codes_after_fork() {
  table.lock.unlock();
  const std::lock_guard guard(table.lock);
  for (PythonCode*& first : table.buckets) {
    while (first != nullptr) {
      PythonCode* code = first;
      first = code->next;
      put_back_locked(code);
    }
  }
  python_code_deaths.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace vramscope
