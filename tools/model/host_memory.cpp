#include "tools/model/host_memory.h"

#include <algorithm>

namespace vramscope {
namespace {

void add(AddressMap<uint64_t>& memory, uint64_t& total, const Event& event) {
  if (const uint64_t* lost = memory.find(event.address)) total -= *lost;  // its free was lost
  memory.insert(event.address, event.size);
  total += event.size;
}

void remove(AddressMap<uint64_t>& memory, uint64_t& total, const Event& event) {
  const uint64_t* bytes = memory.find(event.address);
  if (bytes == nullptr) return;
  total -= *bytes;
  memory.erase(event.address);
}

}  // namespace

void HostMemoryCount::apply(const Event& event) {
  if (event.result != 0) return;
  switch (event.kind) {
    case RecordKind::kHostAlloc:
      add(pinned_, totals_.pinned_live_bytes, event);
      totals_.pinned_peak_bytes = std::max(totals_.pinned_peak_bytes, totals_.pinned_live_bytes);
      return;
    case RecordKind::kHostFree:
      return remove(pinned_, totals_.pinned_live_bytes, event);
    case RecordKind::kHostRegister:
      return add(registered_, totals_.registered_live_bytes, event);
    case RecordKind::kHostUnregister:
      return remove(registered_, totals_.registered_live_bytes, event);
    default:
      return;
  }
}

}  // namespace vramscope
