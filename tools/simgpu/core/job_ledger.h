// How much each process of a job takes of each board.
//
// The processes that one `vramscope run --simulate` started share the boards of one machine. `run`
// makes the ledger, a file without a name, and passes on where it is; each process that uses the
// driver keeps a line in it:
//
//   | head | board 0..15 of member 0 | board 0..15 of member 1 | ...
//
// Locks on bytes of the file say who lives and who may write, and the kernel drops them with the
// process: what a killed process had taken is free when somebody looks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/simgpu/core/gpu_choice.h"

namespace simgpu {

// Not thread-safe.
class JobLedger {
 public:
  static constexpr uint32_t kMaxMembers = 1024;

  // For `run`: a descriptor, to be kept open while processes may join; -1 on failure.
  static int create();
  // How VRAMSCOPE_SIM_JOB names the ledger behind a descriptor of this process.
  static std::string name_of(int descriptor);

  // Null where there is no such ledger (any more), or no room in it: the process is then alone.
  static std::unique_ptr<JobLedger> join(const std::string& name);

  JobLedger(const JobLedger&) = delete;
  JobLedger& operator=(const JobLedger&) = delete;
  ~JobLedger();

  // False, and nothing taken, where the members together would exceed the capacity.
  bool take(int board, uint64_t bytes, uint64_t capacity_bytes);
  void give_back(int board, uint64_t bytes);
  // By all living members.
  uint64_t used_bytes(int board);

  // In a forked child, which is no member.
  void close_in_child();

 private:
  struct Head;
  class Turn;

  JobLedger(int descriptor, uint64_t inode, Head* head);

  int descriptor() const;
  bool claim_line();
  uint64_t sum(int board) const;
  void drop_dead_members() const;

  int descriptor_;
  uint64_t inode_;
  Head* head_;
  uint32_t member_ = 0;
};

}  // namespace simgpu
