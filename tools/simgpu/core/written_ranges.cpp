#include "tools/simgpu/core/written_ranges.h"

#include <algorithm>
#include <iterator>

namespace simgpu {

void WrittenRanges::add(uint64_t address, uint64_t size_bytes) {
  uint64_t begin = address;
  uint64_t end = address + size_bytes;
  auto it = end_by_begin_.upper_bound(begin);
  if (it != end_by_begin_.begin() && std::prev(it)->second >= begin) --it;
  while (it != end_by_begin_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = end_by_begin_.erase(it);
  }
  end_by_begin_.emplace(begin, end);
}

bool WrittenRanges::covers(uint64_t address, uint64_t size_bytes) const {
  const auto next = end_by_begin_.upper_bound(address);
  return next != end_by_begin_.begin() && std::prev(next)->second >= address + size_bytes;
}

}  // namespace simgpu
