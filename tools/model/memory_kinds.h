// What a process asked of the driver, kind by kind: also what no trace shows, because it has no
// device, no known size, or is counted elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "recorder/record.h"
#include "tools/model/address_map.h"

namespace vramscope {

enum class MemoryKind : uint8_t {
  kContext,        // costs memory whose size no call tells
  kModule,         // code and its global variables: likewise
  kLinear,         // cuMemAlloc, cuMemAllocPitch
  kManaged,        // cuMemAllocManaged
  kStreamOrdered,  // cuMemAllocAsync: what was asked for, without the pool's rounding and reserve
  kPhysical,       // cuMemCreate: from there until it is released and mapped nowhere any more
  kMapped,         // addresses with physical memory behind them
  kAddressSpace,   // cuMemAddressReserve: no memory
  kArray,          // texels
  kGraphNode,      // of memory nodes, from when they are added: taken when the graph is launched
  kImported,       // of another process or interface, which has it counted; size where it is told
  kPinned,         // host memory: cuMemHostAlloc, cuMemAllocHost
  kRegistered,     // host memory that the program allocated itself
};
constexpr size_t kMemoryKindCount = 13;

const char* memory_kind_name(MemoryKind kind);  // "stream_ordered"...

constexpr bool has_known_size(MemoryKind kind) { return kind > MemoryKind::kModule; }

// Peaks of bytes and of the count need not be of one moment.
struct KindUse {
  MemoryKind kind{};
  int device = kNoDevice;  // kNoDevice: host memory, addresses, or not known
  uint64_t peak_bytes = 0;
  uint64_t live_bytes = 0;  // after the last event
  uint64_t peak_count = 0;
  uint64_t live_count = 0;
};

// All zeros where the process has none.
KindUse find_kind(std::span<const KindUse> uses, MemoryKind kind, int device);

class KindTotals {
 public:
  void add(MemoryKind kind, int device, uint64_t bytes);
  void remove(MemoryKind kind, int device, uint64_t bytes);
  // Something that is counted already turns out to be larger.
  void grow(MemoryKind kind, int device, uint64_t bytes);

  std::vector<KindUse> uses() const;  // by kind, then device

 private:
  KindUse& use(MemoryKind kind, int device) { return uses_[{kind, device}]; }

  std::map<std::pair<MemoryKind, int>, KindUse> uses_;
};

// Everything but physical memory, its mappings and imported handles, which are mapped_ranges' job.
class KindCount {
 public:
  explicit KindCount(KindTotals& totals) : totals_(totals) {}

  // To be called with every event, in order. What the event gave back, if it is known.
  std::optional<MemoryKind> apply(const Event& event);

 private:
  // What may be live at one address, or under one handle, at the same time. An array's handle is
  // its address.
  enum class Space : uint8_t { kMemory, kRegistered, kReserved, kModule, kContext };
  static constexpr size_t kSpaceCount = 5;

  struct Live {
    MemoryKind kind{};
    int8_t device = kNoDevice;
    uint64_t bytes = 0;
    uint32_t references = 1;
  };

  void open(Space space, uint64_t key, const Live& live);
  std::optional<MemoryKind> close(Space space, uint64_t key);
  void retain_context(const Event& event);
  std::optional<MemoryKind> release_context(const Event& event);
  std::optional<MemoryKind> apply_graph_memory(const Event& event);
  void import(const Event& event);

  KindTotals& totals_;
  std::array<AddressMap<Live>, kSpaceCount> live_;
};

}  // namespace vramscope
