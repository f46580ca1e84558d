// Host memory that the driver pinned or registered: totals only.
#pragma once

#include "recorder/record.h"
#include "tools/model/address_map.h"
#include "tools/model/recording.h"

namespace vramscope {

class HostMemoryCount {
 public:
  void apply(const Event& event);
  const HostMemory& totals() const { return totals_; }

 private:
  AddressMap<uint64_t> pinned_;  // bytes by address
  AddressMap<uint64_t> registered_;
  HostMemory totals_;
};

}  // namespace vramscope
