#include "tools/simgpu/core/host_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/simgpu/core/units.h"

namespace simgpu::host_pages {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

constexpr int protection(bool accessible) {
  return accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
}

void advise(void* mapped, uint64_t size_bytes) {
  madvise(mapped, size_bytes, MADV_DONTDUMP);
  madvise(mapped, size_bytes, MADV_NOHUGEPAGE);  // a few bytes written must not cost 2 MiB
}

uint64_t map(uint64_t size_bytes, uint64_t hint, bool accessible) {
  void* mapped = mmap(pointer(hint), size_bytes, protection(accessible), kReserveFlags, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  advise(mapped, size_bytes);
  return reinterpret_cast<uint64_t>(mapped);
}

void discard(uint64_t address, uint64_t size_bytes, int advice) {
  const uint64_t range_end = address + size_bytes;
  const uint64_t begin = round_up(address, kPageBytes);
  const uint64_t end = round_down(range_end, kPageBytes);
  if (end <= begin) {
    std::memset(pointer(address), 0, size_bytes);
    return;
  }
  std::memset(pointer(address), 0, begin - address);
  madvise(pointer(begin), end - begin, advice);
  std::memset(pointer(end), 0, range_end - end);
}

bool write_all(int descriptor, uint64_t address, uint64_t size_bytes, uint64_t offset) {
  for (uint64_t done = 0; done < size_bytes;) {
    const ssize_t written = pwrite(descriptor, pointer(address + done), size_bytes - done,
                                   static_cast<off_t>(offset + done));
    if (written <= 0) return false;
    done += static_cast<uint64_t>(written);
  }
  return true;
}

// Writes the pages that were ever touched, so that gigabytes of untouched memory cost nothing.
bool copy_into_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset) {
  constexpr uint64_t kTouched = 3ull << 62;  // present or swapped out, of an entry of pagemap
  constexpr uint64_t kPagesAtOnce = 4096;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::vector<uint64_t> entries(kPagesAtOnce);
  bool copied = true;
  for (uint64_t page = 0; copied && page < size_bytes / kPageBytes;) {
    const uint64_t count = std::min(kPagesAtOnce, size_bytes / kPageBytes - page);
    const auto position = static_cast<off_t>((address / kPageBytes + page) * sizeof entries[0]);
    const auto wanted = static_cast<ssize_t>(count * sizeof entries[0]);
    const bool known = pread(pagemap, entries.data(), wanted, position) == wanted;
    for (uint64_t i = 0; copied && i < count; ++i) {
      if (known && (entries[i] & kTouched) == 0) continue;
      const uint64_t begin = (page + i) * kPageBytes;
      copied = write_all(descriptor, address + begin, kPageBytes, offset + begin);
    }
    page += count;
  }
  if (pagemap >= 0) close(pagemap);
  return copied;
}

}  // namespace

uint64_t reserve(uint64_t size_bytes, uint64_t hint) { return map(size_bytes, hint, true); }

uint64_t reserve_inaccessible(uint64_t size_bytes, uint64_t alignment) {
  const uint64_t mapped = map(size_bytes + alignment, 0, false);
  if (mapped == 0) return 0;
  const uint64_t address = round_up(mapped, alignment);
  const uint64_t tail = mapped + alignment - address;
  if (address > mapped) munmap(pointer(mapped), address - mapped);
  if (tail > 0) munmap(pointer(address + size_bytes), tail);
  return address;
}

void make_private(uint64_t address, uint64_t size_bytes, bool accessible) {
  // Replaces a mapping of our own by an empty one, which needs no memory: it cannot fail.
  const int flags = kReserveFlags | MAP_FIXED;
  void* replaced = mmap(pointer(address), size_bytes, protection(accessible), flags, -1, 0);
  advise(replaced, size_bytes);
}

bool map_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
              bool accessible) {
  void* mapped =
      mmap(pointer(address), size_bytes, protection(accessible),
           MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return false;
  advise(mapped, size_bytes);
  madvise(mapped, size_bytes, MADV_DONTFORK);  // a child must not keep the file's pages alive
  return true;
}

bool move_into_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
                    bool accessible) {
  if (!accessible && !set_accessible(address, size_bytes, true)) return false;
  const bool moved = copy_into_file(address, size_bytes, descriptor, offset) &&
                     map_file(address, size_bytes, descriptor, offset, accessible);
  if (!moved && !accessible) set_accessible(address, size_bytes, false);
  return moved;
}

bool set_accessible(uint64_t address, uint64_t size_bytes, bool accessible) {
  return mprotect(pointer(address), size_bytes, protection(accessible)) == 0;
}

void discard(uint64_t address, uint64_t size_bytes) { discard(address, size_bytes, MADV_DONTNEED); }

void discard_in_file(uint64_t address, uint64_t size_bytes) {
  discard(address, size_bytes, MADV_REMOVE);
}

void unreserve(uint64_t address, uint64_t size_bytes) { munmap(pointer(address), size_bytes); }

}  // namespace simgpu::host_pages
