// Which addresses of a contiguous range are in use. Arithmetic only: no memory is touched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace simgpu {

//   begin                     break                                   end
//     |#####|  hole  |####|hole|...... never used ......................|
//
// Holes are kept by address (to merge neighbours) and by size (to find the best fit). Not
// thread-safe.
class AddressSpace {
 public:
  AddressSpace(uint64_t begin, uint64_t size_bytes);

  // The smallest hole that fits, else the space above the break. Ranges of 1 MiB and more start at
  // a multiple of 2 MiB, smaller ones at a multiple of 512 B, as on real devices. Empty when
  // nothing fits.
  std::optional<uint64_t> allocate(uint64_t size_bytes);

  // Returns a range that allocate() gave out, with the same size, and merges it with the holes
  // beside it.
  void release(uint64_t address, uint64_t size_bytes);

  uint64_t begin() const { return begin_; }
  bool contains(uint64_t address) const { return address >= begin_ && address < end_; }

  size_t hole_count() const { return holes_.size(); }

 private:
  void add_hole(uint64_t address, uint64_t size_bytes);
  void remove_hole(std::map<uint64_t, uint64_t>::iterator hole);
  std::optional<uint64_t> allocate_from_hole(uint64_t size_bytes, uint64_t alignment);

  uint64_t begin_;
  uint64_t end_;
  uint64_t break_;
  std::map<uint64_t, uint64_t> holes_;                     // address -> size
  std::set<std::pair<uint64_t, uint64_t>> holes_by_size_;  // (size, address)
};

}  // namespace simgpu
