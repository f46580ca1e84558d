// Physical memory and where it is mapped: what a mapping's device is, and what an unmap takes away.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/record.h"

namespace vramscope {

struct MappedRange {
  uint64_t address = 0;
  uint64_t size = 0;
  int device = 0;
};

class MappedRanges {
 public:
  // kPhysicalCreate that succeeded.
  void add_handle(const Event& event);

  // kShare, kMulticast: a handle that comes from there is no memory that this process took.
  void add_foreign_handle(const Event& event);

  // kMap that succeeded. The device whose memory it is; nullopt if it is the host's or foreign.
  std::optional<int> map(const Event& event);

  // kUnmap that succeeded: the ranges that map() gave a device and that lie in it, in address
  // order.
  std::vector<MappedRange> unmap(const Event& event);

 private:
  static constexpr int kForeign = -2;

  std::unordered_map<uint64_t, int> device_of_handle_;
  std::map<uint64_t, MappedRange> ranges_;
  int last_device_ = 0;
};

}  // namespace vramscope
