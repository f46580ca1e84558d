// Handles that programs pass from process to process.
#pragma once

#include <bit>
#include <cstdint>

#include "tools/simgpu/core/share_registry.h"
#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu {

// File descriptors are the only handles of the operating system that memory has here.
constexpr bool can_be_exported_as(unsigned long long handle_types) {
  return (handle_types & ~uint64_t{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0;
}

// The driver API's opaque structures of 64 bytes, and what they are here.
template <typename Opaque>
ShareHandle share_handle(const Opaque& opaque) {
  return std::bit_cast<ShareHandle>(opaque);
}

template <typename Opaque>
void write_handle(const ShareHandle& handle, Opaque* opaque) {
  *opaque = std::bit_cast<Opaque>(handle);
}

// A descriptor, as the calls take it: in the place of a pointer.
inline int descriptor_of(void* handle) {
  return static_cast<int>(reinterpret_cast<intptr_t>(handle));
}

}  // namespace simgpu
