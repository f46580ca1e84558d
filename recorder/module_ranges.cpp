#include "recorder/module_ranges.h"

#include <iterator>

namespace vramscope {

void ModuleRanges::add(uint64_t begin, uint64_t end, uint32_t module) {
  if (begin >= end) return;
  auto old = ranges_.lower_bound(begin);
  if (old != ranges_.begin() && std::prev(old)->second.end > begin) --old;
  while (old != ranges_.end() && old->first < end) {
    const auto [old_begin, range] = *old;
    old = ranges_.erase(old);
    if (old_begin < begin) ranges_.emplace(old_begin, Range{begin, range.module});
    if (range.end > end) ranges_.emplace(end, Range{range.end, range.module});
  }
  ranges_.emplace(begin, Range{end, module});
}

uint32_t ModuleRanges::find(uint64_t return_address) const {
  const uint64_t call = return_address - 1;  // a call may be the last instruction of its module
  auto range = ranges_.upper_bound(call);
  if (range == ranges_.begin()) return kNoModule;
  --range;
  return call < range->second.end ? range->second.module : kNoModule;
}

}  // namespace vramscope
