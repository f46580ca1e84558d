// Physical memory and where it is mapped: what a mapping's device is, and what an unmap takes away.
//
//   cuMemCreate -> handle -> physical memory <- mapping <- address
//
// Physical memory lives as long as a handle or a mapping refers to it. A handle may also stand for
// memory of another process or interface, which that one has counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/record.h"
#include "tools/model/memory_kinds.h"

namespace vramscope {

struct MappedRange {
  uint64_t address = 0;
  uint64_t size = 0;
  int device = 0;
};

class MappedRanges {
 public:
  explicit MappedRanges(KindTotals& totals) : totals_(totals) {}

  // What is done to handles, the mappings aside. To be called with every event, in order.
  void apply(const Event& event);

  // kMap that succeeded. The device whose memory it is; nullopt if it is the host's or foreign, or
  // mapped elsewhere already.
  std::optional<int> map(const Event& event);

  // kUnmap that succeeded: the ranges that map() gave a device and that lie in it, in address
  // order.
  std::vector<MappedRange> unmap(const Event& event);

 private:
  enum class Origin : uint8_t { kCreated, kImported, kMulticast };

  struct Physical {
    Origin origin = Origin::kCreated;
    int device = kNoDevice;
    uint64_t bytes = 0;
    uint32_t handles = 0;
    uint32_t mappings = 0;
  };
  struct Handle {
    std::shared_ptr<Physical> physical;
    uint32_t references = 0;
  };
  struct Mapping {
    uint64_t size = 0;
    bool has_device = false;  // map() named one
    std::shared_ptr<Physical> physical;
  };

  void open(uint64_t handle, const Physical& physical);
  void retain(const Event& event);
  void release(uint64_t handle);
  void remove_unless_used(const Physical& physical);
  using Mappings = std::map<uint64_t, Mapping>;
  Mappings::iterator close(Mappings::iterator mapping);
  // Where its memory is counted; nullopt: nowhere.
  static std::optional<MemoryKind> kind_of(const Physical& physical);

  KindTotals& totals_;
  std::unordered_map<uint64_t, Handle> handles_;
  Mappings mappings_;  // by address
  int last_device_ = 0;
};

}  // namespace vramscope
