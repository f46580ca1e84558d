// A device's memory as the replay sees it: a capacity, addresses, and memory of others.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tools/analysis/allocator/device.h"
#include "tools/model/trace_events.h"

namespace vramscope {

// A segment, or a mapped range, that the recording has.
struct RecordedSegment {
  uint32_t event = 0;  // of the trace
  Action action = Action::kSegmentAlloc;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  PoolId pool{};
};

// Addresses are those of the recording, where the same is asked for in the same request: which of
// two equal blocks is taken depends on them. Else the lowest that are free.
class SimulatedDevice final : public AllocatorDevice {
 public:
  explicit SimulatedDevice(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // What the recording asked of the driver for the next request, and what it asked ever after.
  void expect(std::span<const RecordedSegment> segments, std::span<const RecordedSegment> later) {
    expected_ = segments;
    later_ = later;
  }

  // Memory beside the allocator. false: it did not fit, and counts all the same.
  bool take_outside(uint64_t bytes);
  void give_back_outside(uint64_t bytes);
  uint64_t outside_bytes() const { return outside_bytes_; }

  std::optional<uint64_t> allocate(uint64_t bytes) override;
  void free(uint64_t address, uint64_t bytes) override;
  uint64_t reserve_addresses(uint64_t bytes, const AddressUse& use) override;
  void release_addresses(uint64_t address, uint64_t bytes) override;
  bool map(uint64_t address, uint64_t bytes) override;
  void unmap(uint64_t address, uint64_t bytes) override;
  uint64_t total_bytes() const override { return capacity_bytes_; }
  uint64_t free_bytes() const override {
    return used_bytes() < capacity_bytes_ ? capacity_bytes_ - used_bytes() : 0;
  }

 private:
  uint64_t used_bytes() const { return own_bytes_ + outside_bytes_; }
  bool fits(uint64_t bytes) const { return bytes <= free_bytes(); }
  uint64_t place(uint64_t bytes);
  bool claim(uint64_t address, uint64_t bytes);

  const uint64_t capacity_bytes_;
  uint64_t own_bytes_ = 0;
  uint64_t outside_bytes_ = 0;
  std::map<uint64_t, uint64_t> claimed_;  // ranges of addresses: begin -> size
  std::span<const RecordedSegment> expected_;
  std::span<const RecordedSegment> later_;
};

}  // namespace vramscope
