// Keeps a write that fails from ending the job by its signal: SIGXFSZ beyond the limit of a file's
// size, SIGPIPE when nobody reads. Both are sent to the thread that writes.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace vramscope {

// The signal is blocked in this thread as long as the object lives; one that came meanwhile is
// taken back, one that had been pending before stays.
class BlockedSignal {
 public:
  explicit BlockedSignal(int signal) {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, signal) == 1;
    sigemptyset(&blocked_);
    sigaddset(&blocked_, signal);
    pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
  }
  ~BlockedSignal() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&blocked_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignal(const BlockedSignal&) = delete;
  BlockedSignal& operator=(const BlockedSignal&) = delete;

 private:
  sigset_t blocked_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace vramscope
