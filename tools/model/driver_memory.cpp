#include "tools/model/driver_memory.h"

#include <limits>

namespace vramscope {

UnitId LiveUnits::open(uint64_t address, uint64_t size) {
  if (address == 0 || size == 0) return kNoUnit;
  const uint64_t end = size > std::numeric_limits<uint64_t>::max() - address
                           ? std::numeric_limits<uint64_t>::max()
                           : address + size;
  ranges_.insert_or_assign(address, Range{end, next_});
  return next_++;
}

UnitId LiveUnits::find(uint64_t address) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return kNoUnit;
  --range;
  return address < range->second.end ? range->second.unit : kNoUnit;
}

UnitId LiveUnits::apply(const Event& event) {
  if (event.result != 0) return kNoUnit;
  switch (event.kind) {
    case RecordKind::kDeviceAlloc:
    case RecordKind::kManagedAlloc:
    case RecordKind::kAsyncAlloc:
    case RecordKind::kAddressReserve:
      return open(event.address, event.size);
    case RecordKind::kMap: {
      const UnitId reserved = find(event.address);
      return reserved != kNoUnit ? reserved : open(event.address, event.size);
    }
    case RecordKind::kDeviceFree:
    case RecordKind::kAsyncFree:
    case RecordKind::kAddressFree:
      ranges_.erase(event.address);
      return kNoUnit;
    default:
      return kNoUnit;
  }
}

void DriverMemory::apply(const Event& event) {
  if (event.kind == RecordKind::kBlockOom) has_blocks_ = true;  // it may never get one
  if (event.kind == RecordKind::kBlockAlloc) {
    has_blocks_ = true;
    const UnitId id = live_.find(event.address);
    if (id == kNoUnit || units_[id].has_blocks) return;
    units_[id].has_blocks = true;
    units_[id].stream = event.stream;
    return;
  }
  const UnitId id = live_.apply(event);
  if (id != units_.size()) return;  // not a new one
  units_.emplace_back().native_stack = event.native_stack;
}

void DriverMemory::find_owners(StackOwners& owners) {
  for (DriverUnit& unit : units_) {
    unit.owner = owners.of(unit.native_stack);
    unit.is_framework = has_blocks_ && (unit.has_blocks || unit.owner.is_caching_allocator);
  }
}

}  // namespace vramscope
