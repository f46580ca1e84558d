#include "tools/model/memory_kinds.h"

#include <algorithm>

namespace vramscope {

const char* memory_kind_name(MemoryKind kind) {
  static constexpr const char* kNames[kMemoryKindCount] = {
      "context",  "module",      "linear",         "managed", "stream_ordered",
      "physical", "mapped",      "address_space",  "array",   "graph_node",
      "imported", "pinned_host", "registered_host"};
  return kNames[static_cast<size_t>(kind)];
}

KindUse find_kind(std::span<const KindUse> uses, MemoryKind kind, int device) {
  for (const KindUse& use : uses)
    if (use.kind == kind && use.device == device) return use;
  return {kind, device};
}

void KindTotals::grow(MemoryKind kind, int device, uint64_t bytes) {
  KindUse& now = use(kind, device);
  now.live_bytes += bytes;
  now.peak_bytes = std::max(now.peak_bytes, now.live_bytes);
}

void KindTotals::add(MemoryKind kind, int device, uint64_t bytes) {
  grow(kind, device, bytes);
  KindUse& now = use(kind, device);
  ++now.live_count;
  now.peak_count = std::max(now.peak_count, now.live_count);
}

void KindTotals::remove(MemoryKind kind, int device, uint64_t bytes) {
  KindUse& now = use(kind, device);
  now.live_bytes -= bytes;
  --now.live_count;
}

std::vector<KindUse> KindTotals::uses() const {
  std::vector<KindUse> uses;
  for (const auto& [key, use] : uses_) {
    uses.push_back(use);
    uses.back().kind = key.first;
    uses.back().device = key.second;
  }
  return uses;
}

void KindCount::open(Space space, uint64_t key, const Live& live) {
  if (key == 0) return;
  close(space, key);  // its end was lost
  live_[static_cast<size_t>(space)].insert(key, live);
  totals_.add(live.kind, live.device, live.bytes);
}

std::optional<MemoryKind> KindCount::close(Space space, uint64_t key) {
  AddressMap<Live>& map = live_[static_cast<size_t>(space)];
  const Live* found = map.find(key);
  if (found == nullptr) return std::nullopt;
  const MemoryKind kind = found->kind;
  totals_.remove(kind, found->device, found->bytes);
  map.erase(key);
  return kind;
}

// A primary context is retained by each of its users.
void KindCount::retain_context(const Event& event) {
  Live* known = live_[static_cast<size_t>(Space::kContext)].find(event.handle);
  if (known != nullptr) {
    ++known->references;
  } else {
    open(Space::kContext, event.handle, {MemoryKind::kContext, event.device});
  }
}

std::optional<MemoryKind> KindCount::release_context(const Event& event) {
  Live* known = live_[static_cast<size_t>(Space::kContext)].find(event.handle);
  if (known == nullptr || --known->references > 0) return std::nullopt;
  return close(Space::kContext, event.handle);
}

std::optional<MemoryKind> KindCount::apply_graph_memory(const Event& event) {
  if (event.address == 0) return std::nullopt;  // a trim
  if (event.size == 0) return close(Space::kMemory, event.address);
  open(Space::kMemory, event.address, {MemoryKind::kGraphNode, event.device, event.size});
  return std::nullopt;
}

// An address with a handle is a part of what was imported under that handle.
void KindCount::import(const Event& event) {
  const uint64_t bytes = event.handle != 0 ? 0 : event.size;
  open(Space::kMemory, event.address, {MemoryKind::kImported, event.device, bytes});
}

std::optional<MemoryKind> KindCount::apply(const Event& event) {
  if (event.result != 0) return std::nullopt;
  const auto opens = [&](Space space, uint64_t key, MemoryKind kind) {
    open(space, key, {kind, event.device, event.size});
    return std::nullopt;
  };
  switch (event.kind) {
    case RecordKind::kDeviceAlloc:
      return opens(Space::kMemory, event.address, MemoryKind::kLinear);
    case RecordKind::kManagedAlloc:
      return opens(Space::kMemory, event.address, MemoryKind::kManaged);
    case RecordKind::kAsyncAlloc:
      return opens(Space::kMemory, event.address, MemoryKind::kStreamOrdered);
    case RecordKind::kHostAlloc:
      return opens(Space::kMemory, event.address, MemoryKind::kPinned);
    case RecordKind::kDeviceFree:
    case RecordKind::kAsyncFree:
    case RecordKind::kHostFree:
      return close(Space::kMemory, event.address);
    case RecordKind::kHostRegister:
      return opens(Space::kRegistered, event.address, MemoryKind::kRegistered);
    case RecordKind::kHostUnregister:
      return close(Space::kRegistered, event.address);
    case RecordKind::kAddressReserve:
      return opens(Space::kReserved, event.address, MemoryKind::kAddressSpace);
    case RecordKind::kAddressFree:
      return close(Space::kReserved, event.address);
    case RecordKind::kArrayCreate:
      return opens(Space::kMemory, event.handle, MemoryKind::kArray);
    case RecordKind::kModuleLoad:
      return opens(Space::kModule, event.handle, MemoryKind::kModule);
    case RecordKind::kArrayDestroy:
      return close(Space::kMemory, event.handle);
    case RecordKind::kModuleUnload:
      return close(Space::kModule, event.handle);
    case RecordKind::kContextCreate:
      retain_context(event);
      return std::nullopt;
    case RecordKind::kContextDestroy:
      return release_context(event);
    case RecordKind::kGraphMemory:
      return apply_graph_memory(event);
    case RecordKind::kImport:
      import(event);
      return std::nullopt;
    case RecordKind::kImportClose:
      return close(Space::kMemory, event.address);
    default:
      return std::nullopt;
  }
}

}  // namespace vramscope
