#include "tools/simgpu/core/allocation_table.h"

#include <algorithm>
#include <iterator>

namespace simgpu {

Allocation& AllocationTable::insert(const Allocation& allocation) {
  Allocation& inserted = by_address_.emplace(allocation.address, allocation).first->second;
  inserted.id = next_id();
  return inserted;
}

void AllocationTable::erase(uint64_t address) {
  const auto it = by_address_.find(address);
  if (it == by_address_.end()) return;
  written_bytes_ -= it->second.written_bytes;
  by_address_.erase(it);
}

void AllocationTable::note_written(Allocation& allocation, uint64_t bytes) {
  const uint64_t more = std::min(bytes, allocation.reserved_bytes - allocation.written_bytes);
  allocation.written_bytes += more;
  written_bytes_ += more;
}

Allocation* AllocationTable::find(uint64_t address) {
  const auto it = by_address_.find(address);
  return it == by_address_.end() ? nullptr : &it->second;
}

Allocation* AllocationTable::find_containing(uint64_t address) {
  const auto next = by_address_.upper_bound(address);
  if (next == by_address_.begin()) return nullptr;
  Allocation& candidate = std::prev(next)->second;
  return address < candidate.end() ? &candidate : nullptr;
}

bool AllocationTable::overlaps(uint64_t address, uint64_t size_bytes) {
  const auto next = by_address_.lower_bound(address);
  if (next != by_address_.end() && next->first < address + size_bytes) return true;
  return find_containing(address) != nullptr;
}

}  // namespace simgpu
