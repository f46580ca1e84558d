// How much of a device's memory is in use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tools/simgpu/core/job_ledger.h"

namespace simgpu {

class CapacityMeter {
 public:
  // `ledger`: where the processes of a job share the board; it outlives the meter. Null: this
  // process has it for itself.
  explicit CapacityMeter(uint64_t capacity_bytes, JobLedger* ledger = nullptr, int board = 0)
      : capacity_bytes_(capacity_bytes), ledger_(ledger), board_(board) {}

  // False, and nothing taken, where that much is not free.
  bool take(uint64_t bytes) {
    const bool fits = ledger_ ? ledger_->take(board_, bytes, capacity_bytes_)
                              : bytes <= capacity_bytes_ - used_bytes_;
    if (fits) used_bytes_ += bytes;
    return fits;
  }

  void give_back(uint64_t bytes) {
    used_bytes_ -= bytes;
    if (ledger_) ledger_->give_back(board_, bytes);
  }

  uint64_t capacity_bytes() const { return capacity_bytes_; }
  // By this process.
  uint64_t used_bytes() const { return used_bytes_; }
  // Left by all processes.
  uint64_t free_bytes() const {
    const uint64_t used = ledger_ ? ledger_->used_bytes(board_) : used_bytes_;
    return capacity_bytes_ - std::min(used, capacity_bytes_);
  }

 private:
  uint64_t capacity_bytes_;
  JobLedger* ledger_;
  int board_;
  uint64_t used_bytes_ = 0;
};

}  // namespace simgpu
