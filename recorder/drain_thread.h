// Drains the own process's ring file: a thread of the job, where no `vramscope run` does it.
#pragma once

#include <pthread.h>

#include <memory>
#include <string>

#include "recorder/process_drain.h"

namespace vramscope {

// Never destroyed. The child of a fork has no drain thread: it forgets this object.
class DrainThread {
 public:
  // Starts the thread with all signals blocked, so that the job's handlers run on the job's
  // threads. nullptr: failed (one warning); the rings stay undrained, and the session is read from
  // the ring file.
  // `session_path` is that beside the ring file, or elsewhere.
  static DrainThread* start(const std::string& ring_path, const std::string& session_path);

  // Drains everything, ends the thread and completes the session file. Called once.
  void finish();

  // After finish(): drains what a thread has just recorded, at once. Any thread.
  void drain_late_events();

 private:
  explicit DrainThread(std::unique_ptr<ProcessDrain> process) : process_(std::move(process)) {}
  static void* thread_main(void* self);
  void run();

  const std::unique_ptr<ProcessDrain> process_;
  pthread_t thread_{};
  pthread_mutex_t late_mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace vramscope
