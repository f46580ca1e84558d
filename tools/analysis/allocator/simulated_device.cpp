#include "tools/analysis/allocator/simulated_device.h"

#include <algorithm>
#include <iterator>

#include "tools/analysis/allocator/sizes.h"

namespace vramscope {
namespace {

constexpr uint64_t kFirstAddress = uint64_t{1} << 32;
constexpr uint64_t kAlignment = uint64_t{2} << 20;

}  // namespace

bool SimulatedDevice::take_outside(uint64_t bytes) {
  const bool fitted = fits(bytes);
  outside_bytes_ += bytes;
  return fitted;
}

void SimulatedDevice::give_back_outside(uint64_t bytes) {
  outside_bytes_ -= std::min(bytes, outside_bytes_);
}

std::optional<uint64_t> SimulatedDevice::allocate(uint64_t bytes) {
  if (!fits(bytes)) return std::nullopt;
  own_bytes_ += bytes;
  const auto expected = std::ranges::find_if(expected_, [bytes](const RecordedSegment& segment) {
    return segment.action == Action::kSegmentAlloc && segment.size == bytes;
  });
  if (expected != expected_.end() && claim(expected->address, bytes)) return expected->address;
  return place(bytes);
}

void SimulatedDevice::free(uint64_t address, uint64_t bytes) {
  own_bytes_ -= bytes;
  claimed_.erase(address);
}

// The recording does not show reservations, only the first memory that is mapped there; of a
// request that failed for lack of memory not even that, before a later one.
uint64_t SimulatedDevice::reserve_addresses(uint64_t bytes, const AddressUse& use) {
  const auto is_for = [&use](const RecordedSegment& segment) {
    return segment.action == Action::kSegmentMap && segment.stream == use.stream &&
           segment.pool == use.pool &&
           (use.page_bytes <= kSmallSegmentBytes ? segment.size == use.page_bytes
                                                 : segment.size % use.page_bytes == 0);
  };
  for (const auto& recorded : {expected_, later_})
    for (const RecordedSegment& segment : recorded)
      if (is_for(segment) && claim(segment.address, bytes)) return segment.address;
  return place(bytes);
}

void SimulatedDevice::release_addresses(uint64_t address, uint64_t) { claimed_.erase(address); }

bool SimulatedDevice::map(uint64_t, uint64_t bytes) {
  if (!fits(bytes)) return false;
  own_bytes_ += bytes;
  return true;
}

void SimulatedDevice::unmap(uint64_t, uint64_t bytes) { own_bytes_ -= bytes; }

bool SimulatedDevice::claim(uint64_t address, uint64_t bytes) {
  const auto after = claimed_.upper_bound(address);
  if (after != claimed_.end() && after->first - address < bytes) return false;
  if (after != claimed_.begin()) {
    const auto& [begin, size] = *std::prev(after);
    if (address - begin < size) return false;
  }
  claimed_.emplace(address, bytes);
  return true;
}

uint64_t SimulatedDevice::place(uint64_t bytes) {
  uint64_t address = kFirstAddress;
  for (const auto& [begin, size] : claimed_) {
    if (begin >= address && begin - address >= bytes) break;
    address = std::max(address, (begin + size + kAlignment - 1) / kAlignment * kAlignment);
  }
  claimed_.emplace(address, bytes);
  return address;
}

}  // namespace vramscope
