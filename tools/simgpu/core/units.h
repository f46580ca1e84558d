// Binary units and alignment, used by every part of the device model.
#pragma once

#include <cstdint>

namespace simgpu {

inline constexpr uint64_t kKiB = 1ull << 10;
inline constexpr uint64_t kMiB = 1ull << 20;
inline constexpr uint64_t kGiB = 1ull << 30;
inline constexpr uint64_t kTiB = 1ull << 40;

// The smallest multiple of `unit` that is >= `value`; the caller keeps value + unit below 2^64.
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

constexpr uint64_t round_down(uint64_t value, uint64_t unit) { return value / unit * unit; }

}  // namespace simgpu
