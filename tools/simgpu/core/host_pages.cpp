#include "tools/simgpu/core/host_pages.h"

#include <sys/mman.h>

#include <cstring>

#include "tools/simgpu/core/units.h"

namespace simgpu::host_pages {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t map(uint64_t size_bytes, uint64_t hint, int protection) {
  void* mapped = mmap(pointer(hint), size_bytes, protection, kReserveFlags, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  madvise(mapped, size_bytes, MADV_DONTDUMP);
  madvise(mapped, size_bytes, MADV_NOHUGEPAGE);  // a few bytes written must not cost 2 MiB
  return reinterpret_cast<uint64_t>(mapped);
}

}  // namespace

uint64_t reserve(uint64_t size_bytes, uint64_t hint) {
  return map(size_bytes, hint, PROT_READ | PROT_WRITE);
}

uint64_t reserve_inaccessible(uint64_t size_bytes, uint64_t alignment) {
  const uint64_t mapped = map(size_bytes + alignment, 0, PROT_NONE);
  if (mapped == 0) return 0;
  const uint64_t address = round_up(mapped, alignment);
  const uint64_t tail = mapped + alignment - address;
  if (address > mapped) munmap(pointer(mapped), address - mapped);
  if (tail > 0) munmap(pointer(address + size_bytes), tail);
  return address;
}

void make_inaccessible(uint64_t address, uint64_t size_bytes) {
  // Replaces a mapping of our own by an empty one, which needs no memory: it cannot fail.
  [[maybe_unused]] const void* replaced =
      mmap(pointer(address), size_bytes, PROT_NONE, kReserveFlags | MAP_FIXED, -1, 0);
}

bool set_accessible(uint64_t address, uint64_t size_bytes, bool accessible) {
  return mprotect(pointer(address), size_bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) ==
         0;
}

void discard(uint64_t address, uint64_t size_bytes) {
  const uint64_t range_end = address + size_bytes;
  const uint64_t begin = round_up(address, kPageBytes);
  const uint64_t end = round_down(range_end, kPageBytes);
  if (end <= begin) {
    std::memset(pointer(address), 0, size_bytes);
    return;
  }
  std::memset(pointer(address), 0, begin - address);
  madvise(pointer(begin), end - begin, MADV_DONTNEED);
  std::memset(pointer(end), 0, range_end - end);
}

void unreserve(uint64_t address, uint64_t size_bytes) { munmap(pointer(address), size_bytes); }

}  // namespace simgpu::host_pages
