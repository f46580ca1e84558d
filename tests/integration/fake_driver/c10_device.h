// What PyTorch's caching allocator calls for each of its blocks, as libc10 exports it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  int8_t type;
  int8_t index;
};

void reportMemoryUsageToProfiler(void* address, int64_t size, size_t allocated, size_t reserved,
                                 Device device);
void reportOutOfMemoryToProfiler(int64_t size, size_t allocated, size_t reserved, Device device);

}  // namespace c10
