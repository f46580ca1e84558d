// Drains all processes whose ring files appear in a folder and name this process as their drainer:
// what `vramscope run` does beside its job.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "recorder/process_drain.h"

namespace vramscope {

class FolderDrainer {
 public:
  FolderDrainer(std::string folder, uint32_t drainer_pid);

  // One round: new ring files, pending records, processes that have ended. Returns how long the
  // next round can wait: 1 ms while processes record, up to 5 ms else (a ring of the default size
  // holds 16,384 events).
  uint64_t poll_us();

  // The job is over: drains until all its processes have ended, at most `patience_us`.
  void finish(uint64_t patience_us);

  // Processes that were still alive after finish(): their ring files stay.
  std::vector<uint32_t> living_pids() const;

  struct Totals {
    uint64_t processes = 0;
    uint64_t events = 0;
    uint64_t lost_events = 0;
  };
  Totals totals() const;

 private:
  bool look_for_new_files();
  bool drain_all();
  void retire_ended();

  const std::string folder_;
  const uint32_t drainer_pid_;
  std::set<std::string> known_;  // names of ring files that were taken or are someone else's
  std::vector<std::unique_ptr<ProcessDrain>> active_;
  Totals ended_;
  uint64_t looked_at_ns_ = 0;
  uint64_t pause_us_ = 1000;
};

}  // namespace vramscope
