// Drains all processes whose ring files appear in a folder and name this process as their drainer:
// what `vramscope run` does beside its job. Not thread-safe.
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

  // One round: new ring files, pending records, processes that have ended. `rung`: what the
  // doorbell said. Returns how long the next round can wait unless it rings: 20 ms; 1 to 5 ms
  // while there is no process that rings it, or one that does not (a ring of the default size holds
  // 16,384 events).
  uint64_t poll_us(uint32_t rung = kNewFileRung);

  // The job is over: drains until all its processes have ended, at most `patience_us`.
  void finish(uint64_t patience_us);

  // After finish(). Processes that are still alive: their ring files stay.
  std::vector<uint32_t> living_pids() const;
  // Ring files of ended processes whose sessions could not be written.
  std::vector<std::string> unwritten() const;

  struct Totals {
    uint64_t processes = 0;
    uint64_t events = 0;
    uint64_t lost_events = 0;
    uint64_t overwritten_events = 0;  // by flight recorders
    uint64_t shortages = 0;           // how often memory ran out
    // Of --verify-unwind, see UnwindCheck.
    uint64_t unwinds_compared = 0;
    uint64_t unwinds_different = 0;
    uint64_t unwinds_by_libgcc = 0;
  };
  Totals totals() const;

 private:
  bool look_for_new_files();
  bool drain_all();
  void retire_ended();
  static void add(const ProcessDrain& process, Totals& totals);

  const std::string folder_;
  const uint32_t drainer_pid_;
  std::set<std::string> known_;  // names of ring files that were taken or are someone else's
  std::vector<std::unique_ptr<ProcessDrain>> active_;
  Totals ended_;
  uint64_t looked_at_ns_ = 0;
  uint64_t pause_us_ = 1000;
};

}  // namespace vramscope
