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

DriverMemory::DriverMemory(const Session& session, StackOwners& owners) {
  LiveUnits live;
  for (const auto& [event, thread] : session.events) {
    if (event.kind == RecordKind::kBlockAlloc) {
      has_blocks = true;
      const UnitId unit = live.find(event.address);
      if (unit == kNoUnit || units[unit].has_blocks) continue;
      units[unit].has_blocks = units[unit].is_framework = true;
      units[unit].stream = event.stream;
      continue;
    }
    const UnitId unit = live.apply(event);
    if (unit != units.size()) continue;  // not a new one
    DriverUnit& made = units.emplace_back();
    made.owner = owners.of(event.native_stack);
    made.is_framework = made.owner.is_caching_allocator;
  }
  if (has_blocks) return;
  for (DriverUnit& unit : units) unit.is_framework = false;
}

}  // namespace vramscope
