#include "recorder/drain_thread.h"

#include <signal.h>

#include <cstring>
#include <exception>

#include "recorder/blocked_signal.h"
#include "recorder/log.h"

namespace vramscope {
namespace {

// The doorbell wakes it before.
constexpr uint64_t kPause_us = 100'000;

// Its own, so that a job with a small or huge default does not matter.
constexpr size_t kStackBytes = 512 << 10;

std::unique_ptr<ProcessDrain> open_drain(const std::string& ring_path,
                                         const std::string& session_path) {
  try {
    auto reader = RingReader::open(ring_path, RingReader::Access::kDrain);
    if (reader && reader->claim()) {
      return std::make_unique<ProcessDrain>(std::move(reader), session_path);
    }
    // Closing it gives up this process's lock on it.
    [[maybe_unused]] const RingReader* kept = reader.release();
    log_warning("%s: cannot be drained", ring_path.c_str());
  } catch (const std::exception& error) {
    log_warning("%s", error.what());
  }
  return nullptr;
}

int start_with_signals_blocked(pthread_t* thread, void* (*main)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, &attributes, main, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

DrainThread* DrainThread::start(const std::string& ring_path, const std::string& session_path) {
  auto process = open_drain(ring_path, session_path);
  if (!process) return nullptr;
  auto* drain = new DrainThread(std::move(process));
  const int error = start_with_signals_blocked(&drain->thread_, thread_main, drain);
  if (error == 0) return drain;
  log_warning("no thread for draining (%s): events beyond the rings' size are lost",
              std::strerror(error));
  // Not deleted: closing the ring file would give up this process's lock on it.
  return nullptr;
}

void* DrainThread::thread_main(void* self) {
  pthread_setname_np(pthread_self(), "vramscope-drain");
  try {
    static_cast<DrainThread*>(self)->run();
  } catch (const std::exception& error) {
    log_warning("draining stopped: %s", error.what());
  }
  return nullptr;
}

void DrainThread::run() {
  Doorbell& bell = process_->reader().own_doorbell();
  while ((answer_doorbell(bell, kPause_us) & kStopRung) == 0) {
    process_->drain(ProcessDrain::Amount::kWorthwhile);
  }
}

void DrainThread::finish() {
  ring_doorbell(process_->reader().own_doorbell(), kStopRung);
  pthread_join(thread_, nullptr);
  drain_late_events();
}

void DrainThread::drain_late_events() {
  const BlockedSignal file_size_signal(SIGXFSZ);  // this is a thread of the job
  pthread_mutex_lock(&late_mutex_);
  try {
    process_->finish(true);
  } catch (const std::exception& error) {
    log_warning("draining stopped: %s", error.what());
  }
  pthread_mutex_unlock(&late_mutex_);
}

}  // namespace vramscope
