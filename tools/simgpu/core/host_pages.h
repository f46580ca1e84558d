// The one seam to the operating system's memory: simulated device memory is ordinary memory of the
// process whose pages the kernel supplies at the first write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simgpu::host_pages {

// Reserves readable and writable addresses that cost nothing until they are written, left out of
// core dumps. 0 when the system refuses. `hint`: preferred address, or 0.
uint64_t reserve(uint64_t size_bytes, uint64_t hint);

// Reserves addresses that fault on access, aligned to `alignment` (a power of two >= the page
// size). 0 on refusal.
uint64_t reserve_inaccessible(uint64_t size_bytes, uint64_t alignment);

// The next three take whole pages.

// Replaces pages by fresh private ones, which read as zero, or fault where not `accessible`.
void make_private(uint64_t address, uint64_t size_bytes, bool accessible);

// Replaces pages by those of a file, shared with all who map it. False on refusal.
bool map_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
              bool accessible);

// The same for private pages whose contents the file takes over. False on refusal: the pages are
// as they were. Nobody may write to them meanwhile.
bool move_into_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
                    bool accessible);

bool set_accessible(uint64_t address, uint64_t size_bytes, bool accessible);

// Makes an accessible range read as zero: gives the whole pages inside it back, clears the bytes of
// partial pages, which may be shared with neighbours.
void discard(uint64_t address, uint64_t size_bytes);
// The same for pages of a file.
void discard_in_file(uint64_t address, uint64_t size_bytes);

void unreserve(uint64_t address, uint64_t size_bytes);

}  // namespace simgpu::host_pages
