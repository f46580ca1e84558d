#include "tools/simgpu/core/range_set.h"

#include <algorithm>
#include <iterator>

namespace simgpu {

void RangeSet::add(uint64_t address, uint64_t size_bytes) {
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

void RangeSet::remove(uint64_t address, uint64_t size_bytes) {
  const uint64_t end = address + size_bytes;
  auto it = end_by_begin_.upper_bound(address);
  if (it != end_by_begin_.begin() && std::prev(it)->second > address) --it;
  while (it != end_by_begin_.end() && it->first < end) {
    const Range range = *it;
    it = end_by_begin_.erase(it);
    if (range.first < address) end_by_begin_.emplace(range.first, address);
    if (range.second > end) end_by_begin_.emplace(end, range.second);
  }
}

bool RangeSet::covers(uint64_t address, uint64_t size_bytes) const {
  const auto next = end_by_begin_.upper_bound(address);
  return next != end_by_begin_.begin() && std::prev(next)->second >= address + size_bytes;
}

std::vector<RangeSet::Range> RangeSet::inside(uint64_t address, uint64_t size_bytes) const {
  const uint64_t end = address + size_bytes;
  std::vector<Range> parts;
  auto it = end_by_begin_.upper_bound(address);
  if (it != end_by_begin_.begin() && std::prev(it)->second > address) --it;
  for (; it != end_by_begin_.end() && it->first < end; ++it) {
    parts.emplace_back(std::max(it->first, address), std::min(it->second, end));
  }
  return parts;
}

std::vector<RangeSet::Range> RangeSet::outside(uint64_t address, uint64_t size_bytes) const {
  std::vector<Range> gaps;
  uint64_t begin = address;
  for (const auto& [part_begin, part_end] : inside(address, size_bytes)) {
    if (part_begin > begin) gaps.emplace_back(begin, part_begin);
    begin = part_end;
  }
  if (begin < address + size_bytes) gaps.emplace_back(begin, address + size_bytes);
  return gaps;
}

}  // namespace simgpu
