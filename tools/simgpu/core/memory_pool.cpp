#include "tools/simgpu/core/memory_pool.h"

#include <algorithm>

#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

constexpr uint64_t kChunkBytes = 32 * kMiB;

}  // namespace

bool MemoryPool::take(uint64_t bytes) {
  const uint64_t needed = round_up(used_bytes_ + bytes, kChunkBytes);
  if (needed > reserved_bytes_) {
    if (meter_ && !meter_->take(needed - reserved_bytes_)) return false;
    reserved_bytes_ = needed;
    reserved_high_bytes_ = std::max(reserved_high_bytes_, reserved_bytes_);
  }
  used_bytes_ += bytes;
  used_high_bytes_ = std::max(used_high_bytes_, used_bytes_);
  return true;
}

void MemoryPool::trim(uint64_t keep_bytes) {
  const uint64_t keep = std::max(round_up(used_bytes_, kChunkBytes), keep_bytes);
  if (keep >= reserved_bytes_) return;
  if (meter_) meter_->give_back(reserved_bytes_ - keep);
  reserved_bytes_ = keep;
}

}  // namespace simgpu
