// The device of a memory pool, which is said where the pool is made or asked for, and not where
// memory is allocated from it.
#pragma once

#include <cstdint>

namespace vramscope {

// Any thread, no lock, no allocation. Of very many pools some may be forgotten.
void remember_pool(uint64_t pool, int8_t device);

// `otherwise`: for a pool that is not known.
int8_t device_of_pool(uint64_t pool, int8_t otherwise);

}  // namespace vramscope
