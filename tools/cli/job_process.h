// The job that `vramscope run` starts: a child in the same process group, so that the terminal's
// signals reach it as if it ran alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "recorder/doorbell.h"

namespace vramscope {

class JobProcess {
 public:
  // From now on this process passes on the signals that are sent to it alone, and leaves the
  // terminal's to the job. At most one job in a process. Throws UserError if there can be no child.
  // `bell` rings when the job has ended, and lives as long as this process.
  JobProcess(const std::string& path, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment, Doorbell& bell);

  // errno of why the program could not be executed; 0: it runs (or has run).
  int exec_error() const { return exec_error_; }

  // Whether the job has ended. Does not block.
  bool ended();

  // After the job has ended: its exit status. If a signal ended it, that signal ends this process
  // too, without a core dump of its own.
  int leave_like_job() const;

 private:
  pid_t pid_ = -1;
  int exec_error_ = 0;
  int status_ = 0;
};

}  // namespace vramscope
