#include "tools/simgpu/core/virtual_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

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

PhysicalMemory* VirtualMemory::insert(PhysicalMemory made) {
  auto inserted = std::make_unique<PhysicalMemory>(std::move(made));
  PhysicalMemory* physical = inserted.get();
  handles_.emplace(physical, std::move(inserted));
  return physical;
}

Status VirtualMemory::create(const PhysicalMemory& requested, PhysicalMemory** physical) {
  if (!is_granular(requested.size_bytes)) return Status::kInvalidValue;
  if (!requested.on_host && !memory_.take(requested.device, requested.size_bytes)) {
    return Status::kOutOfMemory;
  }
  *physical = insert(requested);
  return Status::kSuccess;
}

bool VirtualMemory::is_handle(const PhysicalMemory* physical) const {
  const auto it = handles_.find(physical);
  return it != handles_.end() && it->second->references > 0;
}

Status VirtualMemory::release(PhysicalMemory* physical) {
  if (!is_handle(physical)) return Status::kInvalidValue;
  if (--physical->references == 0) retire(physical);
  return Status::kSuccess;
}

void VirtualMemory::retire(PhysicalMemory* physical) {
  const ShareFile* file = physical->shared.file.get();
  if (file && physical->is_foreign) {
    file->let_go(physical->file_offset, physical->size_bytes);
  } else if (file && file->is_held(physical->file_offset, physical->size_bytes)) {
    return;  // until reclaim()
  }
  give_back(physical);
}

void VirtualMemory::give_back(PhysicalMemory* physical) {
  if (const ShareFile* file = physical->shared.file.get()) {
    by_slot_.erase({file, physical->shared.index});
    if (!physical->is_foreign) {
      file->discard(physical->file_offset, physical->size_bytes);
      file_space_.release(physical->file_offset, physical->size_bytes);
      memory_.shares().withdraw(physical->shared.index);
    }
  }
  const bool takes_capacity = !physical->on_host && !physical->is_foreign;
  if (takes_capacity) memory_.give_back(physical->device, physical->size_bytes);
  handles_.erase(physical);
}

void VirtualMemory::reclaim() {
  std::vector<PhysicalMemory*> unused;
  for (const auto& [key, physical] : by_slot_) {
    if (physical->references > 0) continue;
    const bool held = physical->shared.file->is_held(physical->file_offset, physical->size_bytes);
    if (!held) unused.push_back(physical);
  }
  for (PhysicalMemory* physical : unused) give_back(physical);
}

Status VirtualMemory::export_handle(PhysicalMemory* physical, int* descriptor) {
  if (!is_handle(physical) || !physical->is_exportable) return Status::kInvalidValue;
  if (const Status status = share(*physical); status != Status::kSuccess) return status;
  *descriptor = physical->shared.file->open_for(physical->shared.index, physical->file_offset,
                                                physical->size_bytes);
  return *descriptor >= 0 ? Status::kSuccess : Status::kOutOfMemory;
}

Status VirtualMemory::import_handle(int descriptor, PhysicalMemory** physical) {
  ShareEntry entry;
  const Status found = memory_.shares().find(descriptor, ShareKind::kPhysical, &entry);
  if (found != Status::kSuccess) return found;
  const auto known = by_slot_.find({entry.file.get(), entry.index});
  if (known != by_slot_.end()) {
    *physical = known->second;
    ++(*physical)->references;
    return Status::kSuccess;
  }
  const ShareSlot& slot = entry.slot();
  PhysicalMemory made{.size_bytes = slot.bytes,
                      .device = 0,
                      .on_host = slot.board < 0,
                      .is_exportable = true,
                      .shared = entry,
                      .file_offset = slot.offset,
                      .is_foreign = true};
  if (!is_granular(made.size_bytes) || made.file_offset < ShareFile::kPhysicalBegin) {
    return Status::kInvalidValue;
  }
  if (!made.on_host) made.device = memory_.shares().device_of(slot.board);
  if (made.device < 0) return Status::kNotSupported;  // a board that this process does not see
  if (!entry.file->hold(made.file_offset, made.size_bytes)) return Status::kOutOfMemory;
  *physical = insert(made);
  by_slot_[{entry.file.get(), entry.index}] = *physical;
  return Status::kSuccess;
}

// Gives the memory a place in the own file, and all its mappings the pages there.
Status VirtualMemory::share(PhysicalMemory& physical) {
  if (physical.shared.file) return Status::kSuccess;
  ShareRegistry& shares = memory_.shares();
  const std::shared_ptr<ShareFile>& file = shares.own();
  if (!file) return Status::kNotSupported;
  const auto place = file_space_.allocate(physical.size_bytes);
  if (!place) return Status::kOutOfMemory;
  const int board = physical.on_host ? -1 : shares.board_of(physical.device);
  uint32_t index = 0;
  const Status status =
      shares.publish(ShareKind::kPhysical, board, *place, physical.size_bytes, &index);
  if (status != Status::kSuccess) {
    file_space_.release(*place, physical.size_bytes);
    return status;
  }
  physical.shared = {file, index};
  physical.file_offset = *place;
  if (move_mappings(physical)) {
    by_slot_[{file.get(), index}] = &physical;
    return Status::kSuccess;
  }
  physical.shared = {};
  shares.withdraw(index);
  file_space_.release(*place, physical.size_bytes);
  return Status::kOutOfMemory;
}

// There is at most one: a second one makes the memory shared before it is there.
bool VirtualMemory::move_mappings(PhysicalMemory& physical) {
  if (physical.mappings == 0) return true;
  for (auto& [address, mapping] : memory_.allocations().by_address()) {
    if (mapping.physical != &physical) continue;
    const ShareFile* file = physical.shared.file.get();
    const bool moved = memory_.pages().move_into_file(
        address, mapping.reserved_bytes, file->descriptor(),
        physical.file_offset + mapping.physical_offset, mapping.accessible);
    if (moved) mapping.file = file;
    return moved;
  }
  return true;
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
  // Both mappings show the same bytes. Where the system refuses, each keeps its own.
  if (physical->mappings > 0) share(*physical);
  const ShareFile* file = physical->shared.file.get();
  const bool mapped = !file || memory_.pages().map_file(address, size_bytes, file->descriptor(),
                                                        physical->file_offset + offset, false);
  if (!mapped) return Status::kOutOfMemory;
  ++physical->references;
  ++physical->mappings;
  memory_.allocations().insert({.address = address,
                                .requested_bytes = size_bytes,
                                .reserved_bytes = size_bytes,
                                .kind = MemoryKind::kMapped,
                                .device = physical->device,
                                .physical = physical,
                                .physical_offset = offset,
                                .accessible = false,
                                .file = file,
                                .is_foreign = physical->is_foreign});
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
  memory_.pages().make_private(address, size_bytes, false);
  for (uint64_t begin = address; begin < end;) {
    const Allocation mapping = *table.find(begin);
    table.erase(begin);
    --mapping.physical->mappings;
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
  for (uint64_t begin = address; begin < address + size_bytes;) {
    Allocation* mapping = memory_.allocations().find_containing(begin);
    mapping->accessible = accessible;
    begin = mapping->end();
  }
  const bool done = host_pages::set_accessible(address, size_bytes, accessible);
  return done ? Status::kSuccess : Status::kInvalidValue;
}

}  // namespace simgpu
