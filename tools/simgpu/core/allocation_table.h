// Every range of memory that the simulated driver knows, by address.
#pragma once

#include <cstdint>
#include <map>

namespace simgpu {

class MemoryPool;
class ShareFile;
struct PhysicalMemory;

inline constexpr uint32_t kNotExported = ~0u;  // in the place of a slot's index

enum class MemoryKind : uint8_t {
  kLinear,          // cuMemAlloc
  kPooled,          // cuMemAllocAsync
  kMapped,          // cuMemMap
  kManaged,         // cuMemAllocManaged
  kPinnedHost,      // cuMemHostAlloc
  kRegisteredHost,  // cuMemHostRegister: the program's own memory
  kImported,        // cuIpcOpenMemHandle, cuMemPoolImportPointer: another process's
};

constexpr bool is_host_kind(MemoryKind kind) {
  return kind == MemoryKind::kPinnedHost || kind == MemoryKind::kRegisteredHost;
}

struct Allocation {
  uint64_t address = 0;
  uint64_t requested_bytes = 0;
  uint64_t reserved_bytes = 0;  // what the model takes for it: >= requested_bytes
  MemoryKind kind = MemoryKind::kLinear;
  int device = 0;
  uint64_t id = 0;             // unique in the process
  unsigned flags = 0;          // of the call that made it
  uint64_t written_bytes = 0;  // upper bound of the bytes that copies and sets left in host pages
  MemoryPool* pool = nullptr;  // kPooled
  PhysicalMemory* physical = nullptr;  // kMapped
  uint64_t physical_offset = 0;        // kMapped: what of it is mapped here
  bool accessible = true;              // kMapped: cuMemSetAccess
  // Where its pages are shared with other processes: they read and write them too.
  const ShareFile* file = nullptr;
  bool is_foreign = false;              // the file is another process's
  uint32_t export_slot = kNotExported;  // kLinear, kPooled: in the own file

  uint64_t end() const { return address + reserved_bytes; }
};

// Whether its pages may hold something: others write to shared ones unseen.
constexpr bool may_hold_data(const Allocation& allocation) {
  return allocation.written_bytes > 0 || allocation.file != nullptr;
}

// Not thread-safe. Pointers stay valid until the allocation is erased.
class AllocationTable {
 public:
  // The range must not overlap another one.
  Allocation& insert(const Allocation& allocation);

  void erase(uint64_t address);

  Allocation* find(uint64_t address);             // that begins there
  Allocation* find_containing(uint64_t address);  // that the address lies in
  bool overlaps(uint64_t address, uint64_t size_bytes);

  std::map<uint64_t, Allocation>& by_address() { return by_address_; }

  // Counts that many bytes of the allocation as written, at most its size.
  void note_written(Allocation& allocation, uint64_t bytes);
  // Upper bound of the host memory that written device memory occupies.
  uint64_t written_bytes() const { return written_bytes_; }

  uint64_t next_id() { return ++last_id_; }

 private:
  std::map<uint64_t, Allocation> by_address_;
  uint64_t written_bytes_ = 0;
  uint64_t last_id_ = 0;
};

}  // namespace simgpu
