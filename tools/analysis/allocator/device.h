// What the allocator asks of the driver: all that a test, a replay, or a comparison with another
// allocator must supply.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/analysis/allocator/block_pool.h"

namespace vramscope {

// What addresses are for. Drivers do not ask; a replay finds by it those that were recorded.
struct AddressUse {
  uint64_t stream = 0;
  PoolId pool{};
  uint64_t page_bytes = 0;
};

class AllocatorDevice {
 public:
  virtual ~AllocatorDevice() = default;

  // A segment: memory with addresses. nullopt: out of memory.
  virtual std::optional<uint64_t> allocate(uint64_t bytes) = 0;
  virtual void free(uint64_t address, uint64_t bytes) = 0;

  // Addresses alone, and memory for a part of them. map() maps all or nothing.
  virtual uint64_t reserve_addresses(uint64_t bytes, const AddressUse& use) = 0;
  virtual void release_addresses(uint64_t address, uint64_t bytes) = 0;
  virtual bool map(uint64_t address, uint64_t bytes) = 0;
  virtual void unmap(uint64_t address, uint64_t bytes) = 0;

  virtual uint64_t total_bytes() const = 0;
  virtual uint64_t free_bytes() const = 0;
};

}  // namespace vramscope
