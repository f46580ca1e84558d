#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/session_file.h"

namespace vramscope {

// ChunkHeader::checksum of a chunk in a session file: XXH64 of the header's bytes before that
// field, with the XXH64 (seed 0) of the stored payload as the seed.
uint64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> stored);

// Tells texts apart; never stored.
uint64_t text_hash(std::span<const std::byte> text);

}  // namespace vramscope
