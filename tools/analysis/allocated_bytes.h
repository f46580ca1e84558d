// Allocated bytes of a device at chosen points of its trace, and the peak between any two of them.
//
//   points        0         3              7    9
//   events        [ 0  1  2 | 3  4  5  6   | 7 8 | ...
//   intervals      peak 0     peak 1        peak 2        level 0 of the table; level k: of 2^k
//
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/model/recording.h"

namespace vramscope {

class AllocatedBytes {
 public:
  // `points`: numbers of events, in any order.
  AllocatedBytes(const DeviceTrace& trace, std::vector<size_t> points);

  // Both take points that were given.
  uint64_t after(size_t events) const { return at_point_[index_of(events)]; }
  // From `begin` to `end`, both included; begin <= end.
  uint64_t peak(size_t begin, size_t end) const;

 private:
  size_t index_of(size_t events) const;
  void walk(const DeviceTrace& trace);
  void build_levels();

  std::vector<size_t> points_;  // ascending, each once
  std::vector<uint64_t> at_point_;
  std::vector<std::vector<uint64_t>> levels_;
};

}  // namespace vramscope
