// Sizes as people write them: "80GiB", "512 MiB" is not one, "1.5GB" is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace simgpu {

// A number, optionally with a fraction, and a unit: B, KiB, MiB, GiB, TiB (powers of 1024) or KB,
// MB, GB, TB (powers of 1000), in any case. A number alone is bytes. Nothing else is accepted: a
// bare "80G" would be ambiguous. Empty for anything that is no such size, or is 2^63 or more.
std::optional<uint64_t> parse_size(std::string_view text);

}  // namespace simgpu
