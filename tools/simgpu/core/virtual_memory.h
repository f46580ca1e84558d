// Virtual memory management: address reservations, physical memory behind handles, and mappings of
// one in the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/status.h"

namespace simgpu {

inline constexpr uint64_t kMappingGranularity = 2ull << 20;

// What a handle of cuMemCreate names. Alive while a handle or a mapping refers to it.
struct PhysicalMemory {
  uint64_t size_bytes;
  int device;    // the device whose capacity it takes, or 0 for host memory
  bool on_host;  // takes no device capacity
  uint64_t references;
};

// Two mappings of one handle do not share their contents: the model keeps bytes by address. Not
// thread-safe.
class VirtualMemory {
 public:
  explicit VirtualMemory(Memory& memory) : memory_(memory) {}

  Status reserve(uint64_t size_bytes, uint64_t alignment, uint64_t* address);
  // The whole of a reservation in which nothing is mapped.
  Status unreserve(uint64_t address, uint64_t size_bytes);

  Status create(int device, bool on_host, uint64_t size_bytes, PhysicalMemory** physical);
  // Takes one reference back.
  Status release(PhysicalMemory* physical);
  // The handle behind a mapped address, with a reference more.
  Status retain(uint64_t address, PhysicalMemory** physical);
  bool is_handle(const PhysicalMemory* physical) const;

  Status map(uint64_t address, uint64_t size_bytes, uint64_t offset, PhysicalMemory* physical);
  // One or several whole mappings that fill the range exactly.
  Status unmap(uint64_t address, uint64_t size_bytes);
  // Mappings must cover the whole range.
  Status set_access(uint64_t address, uint64_t size_bytes, bool accessible);

 private:
  bool is_reserved(uint64_t address, uint64_t size_bytes) const;

  Memory& memory_;
  std::map<uint64_t, uint64_t> reservations_;  // address -> size
  std::map<const PhysicalMemory*, std::unique_ptr<PhysicalMemory>> handles_;
};

}  // namespace simgpu
