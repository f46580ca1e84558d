#include "preload/hooks/pool_devices.h"

#include <array>
#include <atomic>

namespace vramscope {
namespace {

// One word a pool, so that it is written and read whole: the handle, which is an address, and the
// device above it. Pools that share a slot replace each other.
constexpr int kDeviceShift = 56;
constinit std::array<std::atomic<uint64_t>, 256> pools{};

std::atomic<uint64_t>& slot_of(uint64_t pool) {
  return pools[(pool * 0x9e3779b97f4a7c15) >> kDeviceShift];
}

}  // namespace

void remember_pool(uint64_t pool, int8_t device) {
  if (pool == 0 || device < 0) return;
  const uint64_t word = pool | static_cast<uint64_t>(device) << kDeviceShift;
  slot_of(pool).store(word, std::memory_order_relaxed);
}

int8_t device_of_pool(uint64_t pool, int8_t otherwise) {
  const uint64_t word = slot_of(pool).load(std::memory_order_relaxed);
  const bool is_known = pool != 0 && (word & ~(uint64_t{0xff} << kDeviceShift)) == pool;
  return is_known ? static_cast<int8_t>(word >> kDeviceShift) : otherwise;
}

}  // namespace vramscope
