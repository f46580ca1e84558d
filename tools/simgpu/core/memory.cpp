#include "tools/simgpu/core/memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tools/simgpu/core/host_pages.h"
#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

constexpr uint64_t kAllocationUnit = 512;
constexpr uint64_t kHostPageBytes = 4096;
constexpr uint64_t kLargeBytes = kMiB;             // from here on the address space aligns to 2 MiB
constexpr uint64_t kLargestAllocation = 8 * kTiB;  // keeps every sum of sizes far from overflow
constexpr uint64_t kReservationBytes = 16 * kTiB;
// Far from where programs and libraries lie, and the same in every run where it is free.
constexpr uint64_t kReservationHint = 0x600000000000;

std::vector<int> all_boards(size_t count) {
  std::vector<int> boards(count);
  std::iota(boards.begin(), boards.end(), 0);
  return boards;
}

AddressSpace reserve_addresses() {
  // A sanitizer or a small RLIMIT_AS may refuse the full size: take what there is.
  for (uint64_t size = kReservationBytes; size >= kGiB; size /= 2) {
    if (const uint64_t begin = host_pages::reserve(size, kReservationHint)) {
      const uint64_t aligned = round_up(begin, 2 * kMiB);
      return {aligned, size - (aligned - begin)};
    }
  }
  return {0, 0};
}

}  // namespace

Memory::Memory(const std::vector<uint64_t>& capacities_bytes, std::vector<int> boards,
               JobLedger* ledger)
    : shares_(boards.empty() ? all_boards(capacities_bytes.size()) : std::move(boards)),
      addresses_(reserve_addresses()) {
  meters_.reserve(capacities_bytes.size());  // pools point into it
  for (size_t device = 0; device < capacities_bytes.size(); ++device) {
    meters_.emplace_back(capacities_bytes[device], ledger,
                         shares_.board_of(static_cast<int>(device)));
  }
  for (int device = 0; device < device_count(); ++device) {
    default_pools_.push_back(create_pool(device));
    graph_pools_.push_back(create_pool(device));
    graph_pools_.back()->release_threshold_bytes = std::numeric_limits<uint64_t>::max();
  }
  current_pools_ = default_pools_;
}

Status Memory::place(Allocation allocation, uint64_t* address) {
  const auto place = addresses_.allocate(allocation.reserved_bytes);
  if (!place) return Status::kOutOfMemory;
  allocation.address = *place;
  allocations_.insert(allocation);
  *address = *place;
  return Status::kSuccess;
}

Status Memory::allocate_linear(int device, uint64_t bytes, uint64_t* address) {
  if (bytes > kLargestAllocation) return Status::kOutOfMemory;
  const uint64_t reserved = round_up(bytes, kAllocationUnit);
  if (!take(device, reserved)) return Status::kOutOfMemory;
  const Status status = place({.requested_bytes = bytes,
                               .reserved_bytes = reserved,
                               .kind = MemoryKind::kLinear,
                               .device = device},
                              address);
  if (status != Status::kSuccess) give_back(device, reserved);
  return status;
}

Status Memory::allocate_managed(int device, uint64_t bytes, unsigned flags, uint64_t* address) {
  if (bytes > kLargestAllocation) return Status::kOutOfMemory;
  // Whole pages, since the host writes to it at any time.
  return place({.requested_bytes = bytes,
                .reserved_bytes = std::max(round_up(bytes, kHostPageBytes), kLargeBytes),
                .kind = MemoryKind::kManaged,
                .device = device,
                .flags = flags},
               address);
}

Status Memory::allocate_from_pool(MemoryPool& pool, uint64_t bytes, uint64_t* address) {
  if (bytes > kLargestAllocation) return Status::kOutOfMemory;
  const uint64_t reserved = round_up(bytes, kAllocationUnit);
  if (!pool.take(reserved)) {
    if (pool.device() >= 0) trim_pools(pool.device());
    if (!pool.take(reserved)) return Status::kOutOfMemory;
  }
  const Status status = place({.requested_bytes = bytes,
                               .reserved_bytes = reserved,
                               .kind = MemoryKind::kPooled,
                               .device = std::max(pool.device(), 0),
                               .pool = &pool},
                              address);
  if (status != Status::kSuccess) pool.give_back(reserved);
  return status;
}

Status Memory::allocate_pinned(int device, uint64_t bytes, unsigned flags, uint64_t* address) {
  if (bytes > kLargestAllocation) return Status::kOutOfMemory;
  const uint64_t reserved = std::max(round_up(bytes, kHostPageBytes), kHostPageBytes);
  const uint64_t begin = host_pages::reserve(reserved, 0);
  if (begin == 0) return Status::kOutOfMemory;
  allocations_.insert({.address = begin,
                       .requested_bytes = bytes,
                       .reserved_bytes = reserved,
                       .kind = MemoryKind::kPinnedHost,
                       .device = device,
                       .flags = flags});
  *address = begin;
  return Status::kSuccess;
}

Status Memory::register_host(int device, uint64_t address, uint64_t bytes, unsigned flags) {
  if (address == 0 || bytes == 0 || address + bytes < address) return Status::kInvalidValue;
  if (allocations_.overlaps(address, bytes)) return Status::kAlreadyRegistered;
  allocations_.insert({.address = address,
                       .requested_bytes = bytes,
                       .reserved_bytes = bytes,
                       .kind = MemoryKind::kRegisteredHost,
                       .device = device,
                       .flags = flags});
  return Status::kSuccess;
}

void Memory::erase(Allocation* allocation) {
  // The host writes managed memory without the model's knowledge.
  if (may_hold_data(*allocation) || allocation->kind == MemoryKind::kManaged) {
    pages_.discard(allocation->address, allocation->reserved_bytes);
  }
  if (allocation->export_slot != kNotExported) shares_.withdraw(allocation->export_slot);
  addresses_.release(allocation->address, allocation->reserved_bytes);
  if (allocation->kind == MemoryKind::kLinear) {
    give_back(allocation->device, allocation->reserved_bytes);
  }
  MemoryPool* pool = allocation->pool;
  if (pool) pool->give_back(allocation->reserved_bytes);
  allocations_.erase(allocation->address);
  if (pool && pool->used_bytes() == 0 && std::erase(destroyed_pools_, pool) > 0) {
    pool->trim(0);
    std::erase_if(pools_, [pool](const auto& owned) { return owned.get() == pool; });
  }
}

Status Memory::release(uint64_t address) {
  Allocation* allocation = allocations_.find(address);
  if (!allocation || is_host_kind(allocation->kind) || allocation->kind == MemoryKind::kMapped ||
      allocation->kind == MemoryKind::kImported) {
    return Status::kInvalidValue;
  }
  erase(allocation);
  return Status::kSuccess;
}

Status Memory::release_pinned(uint64_t address) {
  const Allocation* allocation = allocations_.find(address);
  if (!allocation || allocation->kind != MemoryKind::kPinnedHost) return Status::kInvalidValue;
  host_pages::unreserve(address, allocation->reserved_bytes);
  allocations_.erase(address);
  return Status::kSuccess;
}

Status Memory::unregister_host(uint64_t address) {
  const Allocation* allocation = allocations_.find(address);
  if (!allocation || allocation->kind != MemoryKind::kRegisteredHost) return Status::kNotRegistered;
  allocations_.erase(address);
  return Status::kSuccess;
}

void Memory::release_all(int device) {
  std::vector<uint64_t> doomed;
  for (const auto& [address, allocation] : allocations_.by_address()) {
    const bool own =
        allocation.kind == MemoryKind::kLinear || allocation.kind == MemoryKind::kManaged;
    if (own && allocation.device == device) doomed.push_back(address);
  }
  for (const uint64_t address : doomed) erase(allocations_.find(address));
}

bool Memory::take(int device, uint64_t bytes) {
  if (meters_[device].take(bytes)) return true;
  trim_pools(device);
  if (reclaim_) reclaim_();
  return meters_[device].take(bytes);
}

MemoryPool* Memory::create_pool(int device) {
  CapacityMeter* meter = device >= 0 ? &meters_[device] : nullptr;
  pools_.push_back(std::make_unique<MemoryPool>(allocations_.next_id(), device, meter));
  return pools_.back().get();
}

bool Memory::is_pool(const MemoryPool* pool) const {
  const bool owned = std::any_of(pools_.begin(), pools_.end(),
                                 [pool](const auto& candidate) { return candidate.get() == pool; });
  const auto& gone = destroyed_pools_;
  return owned && std::find(gone.begin(), gone.end(), pool) == gone.end();
}

Status Memory::destroy_pool(MemoryPool* pool) {
  const bool is_default =
      std::find(default_pools_.begin(), default_pools_.end(), pool) != default_pools_.end();
  if (!is_pool(pool) || is_default) return Status::kInvalidValue;
  if (pool->export_slot != kNotExported) shares_.withdraw(pool->export_slot);
  for (int device = 0; device < device_count(); ++device) {
    if (current_pools_[device] == pool) current_pools_[device] = default_pools_[device];
  }
  pool->trim(0);
  if (pool->used_bytes() > 0) {
    destroyed_pools_.push_back(pool);
  } else {
    std::erase_if(pools_, [pool](const auto& owned) { return owned.get() == pool; });
  }
  return Status::kSuccess;
}

void Memory::trim_pools(int device) {
  for (const auto& pool : pools_) {
    if (pool->device() == device) pool->trim_to_threshold();
  }
}

}  // namespace simgpu
