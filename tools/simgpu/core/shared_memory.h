// Linear and pooled memory that processes share: handles of it for others, memory of others here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/share_registry.h"

namespace simgpu {

// An imported range is an Allocation of kind kImported, which takes no capacity. Small allocations
// share pages with their neighbours, so that an importer maps more than it was given, as on real
// devices. Not thread-safe.
class SharedMemory {
 public:
  explicit SharedMemory(Memory& memory) : memory_(memory) {}

  // The handle of the allocation that the address lies in; the same one each time.
  Status export_linear(uint64_t address, ShareHandle* handle);
  Status open_linear(const ShareHandle& handle, uint64_t* address);
  // Takes back one open_linear; the last one unmaps.
  Status close_linear(uint64_t address);

  // A descriptor for the program. Only pools that were created for it.
  Status export_pool(MemoryPool& pool, int* descriptor);
  // Such a pool allocates nothing; it only imports pointers.
  Status import_pool(int descriptor, MemoryPool** pool);
  Status export_pooled(uint64_t address, ShareHandle* handle);
  Status import_pooled(MemoryPool& pool, const ShareHandle& handle, uint64_t* address);
  Status free_pooled(uint64_t address);

  // Everything that is imported from the device.
  void close_all(int device);

 private:
  using Key = std::tuple<const ShareFile*, uint32_t, uint64_t>;  // slot, generation

  struct Import {
    std::shared_ptr<ShareFile> file;
    ShareKind kind;
    Key key;
    uint64_t pages;  // address of the mapping
    uint64_t page_bytes;
    uint64_t references;
  };

  Status publish(Allocation& allocation, ShareKind kind, ShareHandle* handle);
  Status import(const ShareEntry& entry, uint64_t generation, uint64_t* address);
  Status map(Import* made, uint64_t offset, uint64_t bytes, uint64_t* address);
  Status give_back(uint64_t address, ShareKind kind);
  void unmap(std::map<uint64_t, Import>::iterator import);

  Memory& memory_;
  std::map<uint64_t, Import> imports_;  // by address
  std::map<Key, uint64_t> address_by_key_;
};

}  // namespace simgpu
