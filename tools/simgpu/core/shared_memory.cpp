#include "tools/simgpu/core/shared_memory.h"

#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMappingUnit = 2 * kMiB;  // so that a mapping starts at a page

}  // namespace

Status SharedMemory::publish(Allocation& allocation, ShareKind kind, ShareHandle* handle) {
  ShareRegistry& shares = memory_.shares();
  if (allocation.export_slot == kNotExported) {
    const std::shared_ptr<ShareFile>& file = shares.own();
    if (!file) return Status::kNotSupported;
    const uint64_t begin = round_down(allocation.address, kPageBytes);
    const uint64_t end = round_up(allocation.end(), kPageBytes);
    const bool moved = memory_.pages().move_into_file(begin, end - begin, file->descriptor(),
                                                      memory_.file_offset(begin), true);
    if (!moved) return Status::kMapFailed;
    uint32_t index = 0;
    const Status status =
        shares.publish(kind, shares.board_of(allocation.device),
                       memory_.file_offset(allocation.address), allocation.requested_bytes, &index);
    if (status != Status::kSuccess) return status;
    if (kind == ShareKind::kPooled) file->slot(index).pool_slot = allocation.pool->export_slot;
    allocation.export_slot = index;
    allocation.file = file.get();
  }
  *handle = shares.handle_of(allocation.export_slot);
  return Status::kSuccess;
}

Status SharedMemory::export_linear(uint64_t address, ShareHandle* handle) {
  Allocation* allocation = memory_.allocations().find_containing(address);
  if (!allocation || allocation->kind != MemoryKind::kLinear) return Status::kInvalidValue;
  return publish(*allocation, ShareKind::kLinear, handle);
}

Status SharedMemory::export_pooled(uint64_t address, ShareHandle* handle) {
  Allocation* allocation = memory_.allocations().find(address);
  if (!allocation || allocation->kind != MemoryKind::kPooled) return Status::kInvalidValue;
  if (allocation->pool->export_slot == kNotExported) return Status::kInvalidValue;
  return publish(*allocation, ShareKind::kPooled, handle);
}

Status SharedMemory::open_linear(const ShareHandle& handle, uint64_t* address) {
  ShareEntry entry;
  const Status status = memory_.shares().find(handle, ShareKind::kLinear, &entry);
  if (status != Status::kSuccess) return status;
  // Handles are for other processes.
  if (memory_.shares().is_own(entry)) return Status::kInvalidContext;
  return import(entry, handle.generation, address);
}

Status SharedMemory::import(const ShareEntry& entry, uint64_t generation, uint64_t* address) {
  const Key key{entry.file.get(), entry.index, generation};
  if (const auto known = address_by_key_.find(key); known != address_by_key_.end()) {
    *address = known->second;
    ++imports_.at(*address).references;
    return Status::kSuccess;
  }
  const ShareSlot& slot = entry.slot();
  const uint64_t bytes = slot.bytes;
  const int device = memory_.shares().device_of(slot.board);
  if (device < 0) return Status::kMapFailed;
  Import made{entry.file, slot.kind, key, 0, 0, 1};
  if (const Status status = map(&made, slot.offset, bytes, address); status != Status::kSuccess) {
    return status;
  }
  memory_.allocations().insert({.address = *address,
                                .requested_bytes = bytes,
                                .reserved_bytes = bytes,
                                .kind = MemoryKind::kImported,
                                .device = device,
                                .file = entry.file.get(),
                                .is_foreign = true});
  imports_.emplace(*address, made);
  address_by_key_.emplace(key, *address);
  return Status::kSuccess;
}

Status SharedMemory::map(Import* made, uint64_t offset, uint64_t bytes, uint64_t* address) {
  if (offset < ShareFile::kLinearBegin || bytes == 0) return Status::kInvalidHandle;
  const uint64_t begin = round_down(offset, kPageBytes);
  const uint64_t page_bytes = round_up(offset + bytes, kPageBytes) - begin;
  made->page_bytes = round_up(page_bytes, kMappingUnit);
  const auto place = memory_.take_addresses(made->page_bytes);
  if (!place) return Status::kOutOfMemory;
  made->pages = *place;
  if (!memory_.pages().map_file(*place, page_bytes, made->file->descriptor(), begin, true)) {
    memory_.give_addresses_back(*place, made->page_bytes);
    return Status::kMapFailed;
  }
  *address = *place + (offset - begin);
  return Status::kSuccess;
}

void SharedMemory::unmap(std::map<uint64_t, Import>::iterator import) {
  const Import& made = import->second;
  memory_.pages().make_private(made.pages, made.page_bytes, true);
  memory_.give_addresses_back(made.pages, made.page_bytes);
  memory_.allocations().erase(import->first);
  address_by_key_.erase(made.key);
  imports_.erase(import);
}

Status SharedMemory::give_back(uint64_t address, ShareKind kind) {
  const auto import = imports_.find(address);
  if (import == imports_.end() || import->second.kind != kind) return Status::kInvalidValue;
  if (--import->second.references == 0) unmap(import);
  return Status::kSuccess;
}

Status SharedMemory::close_linear(uint64_t address) {
  return give_back(address, ShareKind::kLinear);
}

Status SharedMemory::free_pooled(uint64_t address) {
  return give_back(address, ShareKind::kPooled);
}

void SharedMemory::close_all(int device) {
  for (auto it = imports_.begin(); it != imports_.end();) {
    const auto import = it++;
    if (memory_.allocations().find(import->first)->device == device) unmap(import);
  }
}

Status SharedMemory::export_pool(MemoryPool& pool, int* descriptor) {
  if (!pool.is_exportable || pool.imported.file) return Status::kInvalidValue;
  ShareRegistry& shares = memory_.shares();
  const std::shared_ptr<ShareFile>& file = shares.own();
  if (!file) return Status::kNotSupported;
  if (pool.export_slot == kNotExported) {
    const int board = pool.device() < 0 ? -1 : shares.board_of(pool.device());
    uint32_t index = 0;
    const Status status = shares.publish(ShareKind::kPool, board, 0, 0, &index);
    if (status != Status::kSuccess) return status;
    pool.export_slot = index;
  }
  *descriptor = file->open_for(pool.export_slot, 0, 0);
  return *descriptor >= 0 ? Status::kSuccess : Status::kOutOfMemory;
}

Status SharedMemory::import_pool(int descriptor, MemoryPool** pool) {
  ShareEntry entry;
  const Status status = memory_.shares().find(descriptor, ShareKind::kPool, &entry);
  if (status != Status::kSuccess) return status;
  const int board = entry.slot().board;
  const int device = board < 0 ? -1 : memory_.shares().device_of(board);
  if (board >= 0 && device < 0) return Status::kNotSupported;
  *pool = memory_.create_pool(device);
  (*pool)->imported = entry;
  return Status::kSuccess;
}

Status SharedMemory::import_pooled(MemoryPool& pool, const ShareHandle& handle, uint64_t* address) {
  if (!pool.imported.file) return Status::kInvalidValue;
  ShareEntry entry;
  const Status status = memory_.shares().find(handle, ShareKind::kPooled, &entry);
  if (status != Status::kSuccess) return Status::kInvalidValue;
  const bool same_pool =
      entry.file == pool.imported.file && entry.slot().pool_slot == pool.imported.index;
  if (!same_pool) return Status::kInvalidValue;
  return import(entry, handle.generation, address);
}

}  // namespace simgpu
