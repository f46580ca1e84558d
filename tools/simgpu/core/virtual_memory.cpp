#include "tools/simgpu/core/virtual_memory.h"

#include <algorithm>
#include <iterator>

#include "tools/simgpu/core/host_pages.h"
#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

constexpr uint64_t kLargestSize = 64 * kTiB;

bool is_granular(uint64_t size_bytes) {
  return size_bytes > 0 && size_bytes % kMappingGranularity == 0 && size_bytes <= kLargestSize;
}

}  // namespace

Status VirtualMemory::reserve(uint64_t size_bytes, uint64_t alignment, uint64_t* address) {
  const bool power_of_two = (alignment & (alignment - 1)) == 0;
  if (!is_granular(size_bytes) || !power_of_two || alignment > kTiB) return Status::kInvalidValue;
  const uint64_t reserved =
      host_pages::reserve_inaccessible(size_bytes, std::max(alignment, kMappingGranularity));
  if (reserved == 0) return Status::kOutOfMemory;
  reservations_[reserved] = size_bytes;
  *address = reserved;
  return Status::kSuccess;
}

Status VirtualMemory::unreserve(uint64_t address, uint64_t size_bytes) {
  const auto it = reservations_.find(address);
  if (it == reservations_.end() || it->second != size_bytes) return Status::kInvalidValue;
  if (memory_.allocations().overlaps(address, size_bytes)) return Status::kInvalidValue;
  reservations_.erase(it);
  host_pages::unreserve(address, size_bytes);
  return Status::kSuccess;
}

bool VirtualMemory::is_reserved(uint64_t address, uint64_t size_bytes) const {
  auto it = reservations_.upper_bound(address);
  if (it == reservations_.begin()) return false;
  --it;
  const uint64_t offset = address - it->first;
  return offset < it->second && size_bytes <= it->second - offset;
}

Status VirtualMemory::create(int device, bool on_host, uint64_t size_bytes,
                             PhysicalMemory** physical) {
  if (!is_granular(size_bytes)) return Status::kInvalidValue;
  if (!on_host && !memory_.take(device, size_bytes)) return Status::kOutOfMemory;
  auto created = std::make_unique<PhysicalMemory>(PhysicalMemory{size_bytes, device, on_host, 1});
  *physical = created.get();
  handles_.emplace(created.get(), std::move(created));
  return Status::kSuccess;
}

bool VirtualMemory::is_handle(const PhysicalMemory* physical) const {
  return handles_.count(physical) > 0;
}

Status VirtualMemory::release(PhysicalMemory* physical) {
  if (!is_handle(physical)) return Status::kInvalidValue;
  if (--physical->references == 0) {
    if (!physical->on_host) memory_.give_back(physical->device, physical->size_bytes);
    handles_.erase(physical);
  }
  return Status::kSuccess;
}

Status VirtualMemory::retain(uint64_t address, PhysicalMemory** physical) {
  const Allocation* mapping = memory_.allocations().find_containing(address);
  if (!mapping || mapping->kind != MemoryKind::kMapped) return Status::kInvalidValue;
  ++mapping->physical->references;
  *physical = mapping->physical;
  return Status::kSuccess;
}

Status VirtualMemory::map(uint64_t address, uint64_t size_bytes, uint64_t offset,
                          PhysicalMemory* physical) {
  if (!is_handle(physical) || !is_granular(size_bytes) || address % kMappingGranularity != 0) {
    return Status::kInvalidValue;
  }
  const bool fits = offset <= physical->size_bytes && size_bytes <= physical->size_bytes - offset;
  if (!fits || !is_reserved(address, size_bytes)) return Status::kInvalidValue;
  if (memory_.allocations().overlaps(address, size_bytes)) return Status::kInvalidValue;
  ++physical->references;
  memory_.allocations().insert({.address = address,
                                .requested_bytes = size_bytes,
                                .reserved_bytes = size_bytes,
                                .kind = MemoryKind::kMapped,
                                .device = physical->device,
                                .physical = physical});
  return Status::kSuccess;
}

Status VirtualMemory::unmap(uint64_t address, uint64_t size_bytes) {
  AllocationTable& table = memory_.allocations();
  const uint64_t end = address + size_bytes;
  uint64_t covered = address;
  while (covered < end) {
    const Allocation* mapping = table.find(covered);
    if (!mapping || mapping->kind != MemoryKind::kMapped) return Status::kInvalidValue;
    covered = mapping->end();
  }
  if (covered != end || size_bytes == 0) return Status::kInvalidValue;
  host_pages::make_inaccessible(address, size_bytes);
  for (uint64_t begin = address; begin < end;) {
    const Allocation mapping = *table.find(begin);
    table.erase(begin);
    release(mapping.physical);
    begin = mapping.end();
  }
  return Status::kSuccess;
}

Status VirtualMemory::set_access(uint64_t address, uint64_t size_bytes, bool accessible) {
  uint64_t covered = address;
  while (covered < address + size_bytes) {
    const Allocation* mapping = memory_.allocations().find_containing(covered);
    if (!mapping || mapping->kind != MemoryKind::kMapped) return Status::kInvalidValue;
    covered = mapping->end();
  }
  const bool done = host_pages::set_accessible(address, size_bytes, accessible);
  return done ? Status::kSuccess : Status::kInvalidValue;
}

}  // namespace simgpu
