#include "tools/simgpu/core/data_mover.h"

#include <cstring>

#include "tools/simgpu/core/host_pages.h"
#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

// Below this, writing zeros is cheaper than giving pages back.
constexpr uint64_t kSmallestDiscardBytes = 64 * kKiB;
constexpr uint64_t kPageBytes = 4096;

void clear(uint64_t address, uint64_t bytes) {
  std::memset(reinterpret_cast<void*>(address), 0, bytes);
}

}  // namespace

// Managed memory is excluded: the host reads and writes it without a copy, so nothing about it can
// be assumed.
Allocation* DataMover::device_allocation(uint64_t address) {
  Allocation* allocation = memory_.allocations().find_containing(address);
  if (!allocation || is_host_kind(allocation->kind)) return nullptr;
  return allocation->kind == MemoryKind::kManaged ? nullptr : allocation;
}

bool DataMover::is_accessible(uint64_t address, uint64_t bytes) {
  if (!memory_.is_device_address(address)) return true;
  const Allocation* allocation = memory_.allocations().find_containing(address);
  return allocation && bytes <= allocation->end() - address;
}

Movement DataMover::plan_copy(uint64_t destination, uint64_t source, uint64_t bytes) {
  Allocation* to = device_allocation(destination);
  const Allocation* from = device_allocation(source);
  if (!to) {
    const bool stale = from && bytes <= kScalarBytes && !written_.covers(source, bytes);
    return stale ? Movement::kClear : Movement::kCopy;
  }
  written_.add(destination, bytes);
  if (from && from->written_bytes == 0) {
    return to->written_bytes == 0 ? Movement::kNothing : Movement::kDiscard;
  }
  if (from && bytes >= kLargeDeviceCopyBytes) return Movement::kNothing;
  AllocationTable& table = memory_.allocations();
  if (bytes >= kSmallCopyBytes && table.written_bytes() + bytes > kResidentBudgetBytes) {
    return Movement::kNothing;
  }
  table.note_written(*to, bytes);
  return Movement::kCopy;
}

Movement DataMover::plan_set(uint64_t destination, uint64_t bytes, bool zero) {
  Allocation* to = device_allocation(destination);
  if (!to) return zero ? Movement::kClear : Movement::kCopy;
  written_.add(destination, bytes);
  if (zero) return to->written_bytes == 0 ? Movement::kNothing : Movement::kDiscard;
  memory_.allocations().note_written(*to, bytes);
  return Movement::kCopy;
}

void carry_out(Movement movement, uint64_t destination, uint64_t source, uint64_t bytes) {
  switch (movement) {
    case Movement::kNothing:
      return;
    case Movement::kCopy:
      std::memmove(reinterpret_cast<void*>(destination), reinterpret_cast<const void*>(source),
                   bytes);
      return;
    case Movement::kClear:
      clear(destination, bytes);
      return;
    case Movement::kDiscard:
      if (bytes < kSmallestDiscardBytes) return clear(destination, bytes);
      const uint64_t first_page = round_up(destination, kPageBytes);
      const uint64_t last_page = round_down(destination + bytes, kPageBytes);
      clear(destination, first_page - destination);
      host_pages::discard(first_page, last_page - first_page);
      clear(last_page, destination + bytes - last_page);
      return;
  }
}

}  // namespace simgpu
