// Which bytes a copy or a set wrote since the last kernel ran.
//
// Kernels do nothing here, so what a kernel "wrote" is whatever the recycled block held before.
// Small reads steer programs (loss.item(), a count of non-zeros, a flag), and stale bytes would
// steer them at random: only what was surely written is read as it is, everything else as zero.
#pragma once

#include <cstdint>
#include <map>

namespace simgpu {

// Not thread-safe.
class WrittenRanges {
 public:
  void add(uint64_t address, uint64_t size_bytes);
  void clear() { end_by_begin_.clear(); }
  // Whether every byte of the range was written.
  bool covers(uint64_t address, uint64_t size_bytes) const;

 private:
  std::map<uint64_t, uint64_t> end_by_begin_;  // disjoint, no two touch
};

}  // namespace simgpu
