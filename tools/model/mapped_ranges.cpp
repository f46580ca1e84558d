#include "tools/model/mapped_ranges.h"

#include <iterator>
#include <utility>

namespace vramscope {

std::optional<MemoryKind> MappedRanges::kind_of(const Physical& physical) {
  if (physical.origin == Origin::kMulticast) return std::nullopt;
  return physical.origin == Origin::kCreated ? MemoryKind::kPhysical : MemoryKind::kImported;
}

void MappedRanges::apply(const Event& event) {
  if (event.result != 0) return;
  switch (event.kind) {
    case RecordKind::kPhysicalCreate:
      if (event.device >= 0) last_device_ = event.device;
      return open(event.handle, {Origin::kCreated, event.device, event.size});
    case RecordKind::kImport:
      if (event.address == 0) open(event.handle, {Origin::kImported, event.device, event.size});
      return;
    case RecordKind::kMulticast:  // the calls that follow its creation name it too
      if (!handles_.contains(event.handle)) open(event.handle, {Origin::kMulticast});
      return;
    case RecordKind::kPhysicalRetain:
      return retain(event);
    case RecordKind::kPhysicalRelease:
    case RecordKind::kImportClose:
    case RecordKind::kPoolDestroy:  // of an imported one
      return release(event.handle);
    default:
      return;
  }
}

void MappedRanges::open(uint64_t handle, const Physical& physical) {
  if (handle == 0) return;
  while (handles_.contains(handle)) release(handle);  // its end was lost
  const auto made = std::make_shared<Physical>(physical);
  made->handles = 1;
  handles_[handle] = {made, 1};
  if (const auto kind = kind_of(*made)) totals_.add(*kind, made->device, made->bytes);
}

void MappedRanges::retain(const Event& event) {
  auto mapping = mappings_.upper_bound(event.address);
  if (mapping == mappings_.begin()) return;
  --mapping;
  if (event.address - mapping->first >= mapping->second.size) return;
  Handle& handle = handles_[event.handle];
  if (handle.physical != nullptr && handle.physical != mapping->second.physical) return;
  handle.physical = mapping->second.physical;
  ++handle.references;
  ++handle.physical->handles;
}

void MappedRanges::release(uint64_t handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return;
  const auto physical = found->second.physical;
  if (--found->second.references == 0) handles_.erase(found);
  --physical->handles;
  remove_unless_used(*physical);
}

void MappedRanges::remove_unless_used(const Physical& physical) {
  if (physical.handles > 0 || physical.mappings > 0) return;
  if (const auto kind = kind_of(physical)) totals_.remove(*kind, physical.device, physical.bytes);
}

std::optional<int> MappedRanges::map(const Event& event) {
  if (event.size == 0) return std::nullopt;
  // A handle from before the recording: most programs use one device.
  if (!handles_.contains(event.handle))
    open(event.handle, {Origin::kCreated, last_device_, event.size});
  const auto known = handles_.find(event.handle);
  if (known == handles_.end()) return std::nullopt;
  const auto lost = mappings_.find(event.address);  // its unmap
  if (lost != mappings_.end()) close(lost);
  Physical& physical = *known->second.physical;
  const bool is_own = physical.origin == Origin::kCreated;
  const bool has_device = is_own && physical.device >= 0 && physical.mappings == 0;
  ++physical.mappings;
  if (is_own) totals_.add(MemoryKind::kMapped, physical.device, event.size);
  // An import does not tell its size.
  if (physical.origin == Origin::kImported && physical.bytes < event.size) {
    totals_.grow(MemoryKind::kImported, physical.device, event.size - physical.bytes);
    physical.bytes = event.size;
  }
  mappings_[event.address] = {event.size, has_device, known->second.physical};
  return has_device ? std::optional(physical.device) : std::nullopt;
}

MappedRanges::Mappings::iterator MappedRanges::close(Mappings::iterator mapping) {
  const auto physical = mapping->second.physical;
  if (physical->origin == Origin::kCreated)
    totals_.remove(MemoryKind::kMapped, physical->device, mapping->second.size);
  --physical->mappings;
  remove_unless_used(*physical);
  return mappings_.erase(mapping);
}

std::vector<MappedRange> MappedRanges::unmap(const Event& event) {
  std::vector<MappedRange> unmapped;
  auto next = mappings_.lower_bound(event.address);
  while (next != mappings_.end() && next->first - event.address < event.size) {
    const auto& [address, mapping] = *next;
    if (mapping.has_device) unmapped.push_back({address, mapping.size, mapping.physical->device});
    next = close(next);
  }
  return unmapped;
}

}  // namespace vramscope
