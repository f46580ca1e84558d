#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vramscope {

// XXH64, seed 0: the checksum of chunks in session files.
uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace vramscope
