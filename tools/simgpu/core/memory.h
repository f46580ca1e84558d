// The memory of all simulated devices: addresses, capacity, pools.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tools/simgpu/core/address_space.h"
#include "tools/simgpu/core/allocation_table.h"
#include "tools/simgpu/core/capacity_meter.h"
#include "tools/simgpu/core/memory_pool.h"
#include "tools/simgpu/core/page_backing.h"
#include "tools/simgpu/core/share_registry.h"
#include "tools/simgpu/core/status.h"

namespace simgpu {

// Device addresses are real addresses of the process (a reservation whose pages come at the first
// write), so that copies need no translation. Not thread-safe: the driver layer calls with its lock
// held.
class Memory {
 public:
  // One device for each capacity; `boards`: which simulated board each one is (all in order).
  // `ledger`: see CapacityMeter.
  explicit Memory(const std::vector<uint64_t>& capacities_bytes, std::vector<int> boards = {},
                  JobLedger* ledger = nullptr);

  // Each sets *address only on success. Sizes are > 0.
  Status allocate_linear(int device, uint64_t bytes, uint64_t* address);
  Status allocate_managed(int device, uint64_t bytes, unsigned flags, uint64_t* address);
  Status allocate_from_pool(MemoryPool& pool, uint64_t bytes, uint64_t* address);
  Status allocate_pinned(int device, uint64_t bytes, unsigned flags, uint64_t* address);
  Status register_host(int device, uint64_t address, uint64_t bytes, unsigned flags);

  // Linear, managed or pooled memory by its start address.
  Status release(uint64_t address);
  Status release_pinned(uint64_t address);
  Status unregister_host(uint64_t address);
  // Everything that was allocated on the device except pools and mappings (a reset of its context).
  void release_all(int device);

  // Addresses of device memory, for pages that are not allocated here.
  std::optional<uint64_t> take_addresses(uint64_t bytes) { return addresses_.allocate(bytes); }
  void give_addresses_back(uint64_t address, uint64_t bytes) { addresses_.release(address, bytes); }
  // Where the pages of a device address lie in the own ShareFile.
  uint64_t file_offset(uint64_t address) const {
    return ShareFile::kLinearBegin + (address - addresses_.begin());
  }
  PageBacking& pages() { return pages_; }
  ShareRegistry& shares() { return shares_; }
  const ShareRegistry& shares() const { return shares_; }

  // Called where a device's memory runs short, before an allocation fails.
  void set_reclaimer(std::function<void()> reclaim) { reclaim_ = std::move(reclaim); }

  // Takes capacity of the device for things without an address (contexts, arrays, physical memory),
  // returning what pools hold in vain first. False where there is not enough.
  bool take(int device, uint64_t bytes);
  void give_back(int device, uint64_t bytes) { meters_[device].give_back(bytes); }

  MemoryPool* create_pool(int device);  // -1: host memory
  // Lives on, unreachable, until its last allocation is freed. The default pools must not be
  // destroyed.
  Status destroy_pool(MemoryPool* pool);
  bool is_pool(const MemoryPool* pool) const;
  MemoryPool* default_pool(int device) { return default_pools_[device]; }
  // The pool that cuMemAllocAsync uses.
  MemoryPool* current_pool(int device) { return current_pools_[device]; }
  void set_current_pool(int device, MemoryPool* pool) { current_pools_[device] = pool; }
  // Memory that graphs allocate; kept until graph_pool(device)->trim().
  MemoryPool* graph_pool(int device) { return graph_pools_[device]; }
  // What a synchronisation of the device does.
  void trim_pools(int device);

  const CapacityMeter& meter(int device) const { return meters_[device]; }
  int device_count() const { return static_cast<int>(meters_.size()); }
  AllocationTable& allocations() { return allocations_; }
  // Whether the address lies where device memory is handed out (allocated or not).
  bool is_device_address(uint64_t address) const { return addresses_.contains(address); }

 private:
  Status place(Allocation allocation, uint64_t* address);
  void erase(Allocation* allocation);

  std::vector<CapacityMeter> meters_;
  ShareRegistry shares_;
  PageBacking pages_;
  std::function<void()> reclaim_;
  AddressSpace addresses_;
  AllocationTable allocations_;
  std::vector<std::unique_ptr<MemoryPool>> pools_;
  std::vector<MemoryPool*> destroyed_pools_;  // of pools_: deleted when empty
  std::vector<MemoryPool*> default_pools_;
  std::vector<MemoryPool*> current_pools_;
  std::vector<MemoryPool*> graph_pools_;
};

}  // namespace simgpu
