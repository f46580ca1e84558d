// Virtual memory management: address reservations, physical memory behind handles, and mappings of
// one in the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/status.h"

namespace simgpu {

inline constexpr uint64_t kMappingGranularity = 2ull << 20;

// What a handle of cuMemCreate names. Alive while a handle or a mapping refers to it.
struct PhysicalMemory {
  uint64_t size_bytes;
  int device;          // the device whose capacity it takes, or 0 for host memory
  bool on_host;        // takes no device capacity
  bool is_exportable;  // created for it
  uint64_t references = 1;
  unsigned mappings = 0;
  // Where its bytes lie once it was exported, or mapped twice; before, they lie where it is mapped.
  ShareEntry shared = {};
  uint64_t file_offset = 0;
  bool is_foreign = false;  // imported: takes no capacity here
};

// Not thread-safe.
class VirtualMemory {
 public:
  explicit VirtualMemory(Memory& memory) : memory_(memory) {}

  Status reserve(uint64_t size_bytes, uint64_t alignment, uint64_t* address);
  // The whole of a reservation in which nothing is mapped.
  Status unreserve(uint64_t address, uint64_t size_bytes);

  // `requested`: size, device, on_host and is_exportable.
  Status create(const PhysicalMemory& requested, PhysicalMemory** physical);
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

  // A descriptor for the program, through which other processes import the memory. The memory
  // lives on while the descriptor, a duplicate, or an importer does.
  Status export_handle(PhysicalMemory* physical, int* descriptor);
  // A reference more where this process knows the memory already.
  Status import_handle(int descriptor, PhysicalMemory** physical);

  // Gives back what was released here while others still used it, and now do no more.
  void reclaim();

 private:
  using SharedKey = std::pair<const ShareFile*, uint32_t>;  // slot

  bool is_reserved(uint64_t address, uint64_t size_bytes) const;
  PhysicalMemory* insert(PhysicalMemory made);
  Status share(PhysicalMemory& physical);
  bool move_mappings(PhysicalMemory& physical);
  void retire(PhysicalMemory* physical);
  void give_back(PhysicalMemory* physical);

  Memory& memory_;
  std::map<uint64_t, uint64_t> reservations_;  // address -> size
  // Those without a reference are still used by other processes.
  std::map<const PhysicalMemory*, std::unique_ptr<PhysicalMemory>> handles_;
  std::map<SharedKey, PhysicalMemory*> by_slot_;
  AddressSpace file_space_{ShareFile::kPhysicalBegin,
                           ShareFile::kFileBytes - ShareFile::kPhysicalBegin};
};

}  // namespace simgpu
