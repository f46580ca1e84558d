// How much of a device's memory is in use.
#pragma once

#include <cstdint>

namespace simgpu {

class CapacityMeter {
 public:
  explicit CapacityMeter(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // False, and nothing taken, where that much is not free.
  bool take(uint64_t bytes) {
    if (bytes > free_bytes()) return false;
    used_bytes_ += bytes;
    return true;
  }

  void give_back(uint64_t bytes) { used_bytes_ -= bytes; }

  uint64_t capacity_bytes() const { return capacity_bytes_; }
  uint64_t used_bytes() const { return used_bytes_; }
  uint64_t free_bytes() const { return capacity_bytes_ - used_bytes_; }

 private:
  uint64_t capacity_bytes_;
  uint64_t used_bytes_ = 0;
};

}  // namespace simgpu
