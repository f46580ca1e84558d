#include "tools/simgpu/core/data_mover.h"

#include <cstring>

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

uint64_t DataMover::foreign_writes() const {
  ShareFile* own = memory_.shares().own_if_any();
  return own ? own->foreign_writes().load() : 0;
}

void DataMover::kernel_ran() {
  written_.clear();
  foreign_writes_at_last_kernel_ = foreign_writes();
}

void DataMover::note_set(const Allocation& allocation, uint64_t address, uint64_t bytes) {
  written_.add(address, bytes);
  if (allocation.is_foreign) allocation.file->foreign_writes().fetch_add(1);
}

bool DataMover::is_stale(const Allocation& allocation, uint64_t address, uint64_t bytes) const {
  if (bytes > kScalarBytes || written_.covers(address, bytes)) return false;
  if (allocation.is_foreign) return false;
  return !allocation.file || foreign_writes() == foreign_writes_at_last_kernel_;
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
    return from && is_stale(*from, source, bytes) ? Movement::kClear : Movement::kCopy;
  }
  note_set(*to, destination, bytes);
  if (from && !may_hold_data(*from)) {
    return may_hold_data(*to) ? Movement::kDiscard : Movement::kNothing;
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
  note_set(*to, destination, bytes);
  if (zero) return may_hold_data(*to) ? Movement::kDiscard : Movement::kNothing;
  memory_.allocations().note_written(*to, bytes);
  return Movement::kCopy;
}

void DataMover::carry_out(Movement movement, uint64_t destination, uint64_t source,
                          uint64_t bytes) const {
  const PageBacking::Lease lease = memory_.pages().lease();
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
      memory_.pages().discard(first_page, last_page - first_page);
      clear(last_page, destination + bytes - last_page);
      return;
  }
}

}  // namespace simgpu
