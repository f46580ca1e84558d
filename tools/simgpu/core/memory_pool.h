// A stream-ordered memory pool (cudaMallocAsync): what it holds of the device, and how much of that
// is in use.
#pragma once

#include <cstdint>

#include "tools/simgpu/core/allocation_table.h"
#include "tools/simgpu/core/capacity_meter.h"
#include "tools/simgpu/core/share_registry.h"

namespace simgpu {

// reserved: taken from the device, in chunks of 32 MiB; used: handed out, <= reserved. Memory
// returns to the device only by trim() and by the release threshold at synchronisations. Not
// thread-safe.
class MemoryPool {
 public:
  // `meter`: the device's, which outlives the pool; null for a pool of host memory, which has no
  // limit here.
  MemoryPool(uint64_t id, int device, CapacityMeter* meter)
      : id_(id), device_(device), meter_(meter) {}

  // Grows the pool where needed; false, and nothing changed, where the device has not enough.
  bool take(uint64_t bytes);
  void give_back(uint64_t bytes) { used_bytes_ -= bytes; }

  // Returns unused chunks to the device until at most `keep_bytes` (or what is in use) stays
  // reserved.
  void trim(uint64_t keep_bytes);

  // What a synchronisation does.
  void trim_to_threshold() { trim(release_threshold_bytes); }

  void reset_reserved_high() { reserved_high_bytes_ = reserved_bytes_; }
  void reset_used_high() { used_high_bytes_ = used_bytes_; }

  uint64_t id() const { return id_; }
  int device() const { return device_; }  // -1: host memory
  uint64_t reserved_bytes() const { return reserved_bytes_; }
  uint64_t reserved_high_bytes() const { return reserved_high_bytes_; }
  uint64_t used_bytes() const { return used_bytes_; }
  uint64_t used_high_bytes() const { return used_high_bytes_; }

  uint64_t release_threshold_bytes = 0;
  bool is_exportable = false;           // created for it
  uint32_t export_slot = kNotExported;  // once it was exported
  ShareEntry imported = {};             // of another process: nothing is allocated from it
  // Kept and answered, without effect on a model in which every free is complete at once.
  int reuse_follow_event_dependencies = 1;
  int reuse_allow_opportunistic = 1;
  int reuse_allow_internal_dependencies = 1;

 private:
  uint64_t id_;
  int device_;
  CapacityMeter* meter_;
  uint64_t reserved_bytes_ = 0;
  uint64_t reserved_high_bytes_ = 0;
  uint64_t used_bytes_ = 0;
  uint64_t used_high_bytes_ = 0;
};

}  // namespace simgpu
