// Counts that code has left the address space: an address may mean something else afterwards. What
// is remembered about addresses is right as long as the count stands still.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope {

inline constinit std::atomic<uint64_t> code_unloads{0};

}  // namespace vramscope
