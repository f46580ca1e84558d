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

// Gives the range's pages back and makes it fault again; whole pages only.
void make_inaccessible(uint64_t address, uint64_t size_bytes);

bool set_accessible(uint64_t address, uint64_t size_bytes, bool accessible);

// Makes an accessible range read as zero: gives the whole pages inside it back, clears the bytes of
// partial pages, which may be shared with neighbours.
void discard(uint64_t address, uint64_t size_bytes);

void unreserve(uint64_t address, uint64_t size_bytes);

}  // namespace simgpu::host_pages
