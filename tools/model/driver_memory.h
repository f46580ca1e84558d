// Which of the driver's allocations are the segments of a framework's caching allocator.
//
// A unit is what was asked of the driver in one call: an allocation, or a reserved range of
// addresses into which memory is mapped later (then memory of the whole range has one owner). The
// events are walked twice: the first walk sees in which units blocks appear, the second one needs
// to know it at the moment of the allocation. Units are numbered in the order of their events, so
// both walks meet them in the same order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "recorder/session.h"
#include "tools/model/owner.h"

namespace vramscope {

struct DriverUnit {
  uint32_t native_stack = 0;  // of the call that made it
  Owner owner;
  bool is_framework = false;  // holds its blocks, or its allocator made it
  bool has_blocks = false;
  uint64_t stream = 0;  // of its first block
};

using UnitId = uint32_t;
constexpr UnitId kNoUnit = UINT32_MAX;

// Units that exist at one moment, by address.
class LiveUnits {
 public:
  // To be called with every event, in order. Returns the unit that the event makes, or that it maps
  // memory into; else kNoUnit.
  UnitId apply(const Event& event);

  UnitId find(uint64_t address) const;

 private:
  struct Range {
    uint64_t end;
    UnitId unit;
  };
  UnitId open(uint64_t address, uint64_t size);

  std::map<uint64_t, Range> ranges_;
  UnitId next_ = 0;
};

// The first walk: apply() every event, then find_owners().
class DriverMemory {
 public:
  void apply(const Event& event);
  void find_owners(StackOwners& owners);

  // Of any framework; without them nothing is a framework's.
  bool has_blocks() const { return has_blocks_; }
  const DriverUnit& unit(UnitId id) const { return units_[id]; }

 private:
  LiveUnits live_;
  std::vector<DriverUnit> units_;
  bool has_blocks_ = false;
};

}  // namespace vramscope
