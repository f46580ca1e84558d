// A set of addresses, kept as ranges.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace simgpu {

// Not thread-safe.
class RangeSet {
 public:
  using Range = std::pair<uint64_t, uint64_t>;  // begin, end

  void add(uint64_t address, uint64_t size_bytes);
  void remove(uint64_t address, uint64_t size_bytes);
  void clear() { end_by_begin_.clear(); }
  // Whether every byte of the range is in the set.
  bool covers(uint64_t address, uint64_t size_bytes) const;
  // The parts of the range that are in the set, and those that are not; both in order.
  std::vector<Range> inside(uint64_t address, uint64_t size_bytes) const;
  std::vector<Range> outside(uint64_t address, uint64_t size_bytes) const;

 private:
  std::map<uint64_t, uint64_t> end_by_begin_;  // disjoint, no two touch
};

}  // namespace simgpu
