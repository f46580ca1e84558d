#include "tools/model/mapped_ranges.h"

namespace vramscope {

void MappedRanges::add_handle(const Event& event) {
  device_of_handle_[event.handle] = event.device;
  if (event.device >= 0) last_device_ = event.device;
}

// An export names a handle too, but one that is known.
void MappedRanges::add_foreign_handle(const Event& event) {
  if (event.result == 0 && event.handle != 0) device_of_handle_.emplace(event.handle, kForeign);
}

std::optional<int> MappedRanges::map(const Event& event) {
  const auto known = device_of_handle_.find(event.handle);
  // A handle from before the recording: most programs use one device.
  const int device = known == device_of_handle_.end() ? last_device_ : known->second;
  if (device < 0 || event.size == 0) return std::nullopt;
  ranges_.insert_or_assign(event.address, MappedRange{event.address, event.size, device});
  return device;
}

std::vector<MappedRange> MappedRanges::unmap(const Event& event) {
  std::vector<MappedRange> unmapped;
  auto range = ranges_.lower_bound(event.address);
  while (range != ranges_.end() && range->first - event.address < event.size) {
    unmapped.push_back(range->second);
    range = ranges_.erase(range);
  }
  return unmapped;
}

}  // namespace vramscope
