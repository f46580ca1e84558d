#include "recorder/recorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "recorder/clock.h"
#include "recorder/log.h"
#include "recorder/session_opening.h"
#include "recorder/thread_log.h"

namespace vramscope {
namespace {

// All state of the recorder in this process. Constant-initialised and never destroyed.
struct Recorder {
  std::atomic<RecordingSession*> session{nullptr};  // nullptr: no event yet
  std::atomic<int> clock{-1};                       // a ClockKind; -1: not chosen yet
  std::atomic<bool> finished{false};                // the session is: what comes now comes late
  pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  pthread_key_t thread_end = 0;  // its value is the thread's ThreadLog
  bool prepared = false;         // thread_end and the fork handler exist; under `opening`
  bool after_fork = false;       // under `opening`
  ApiNames api_names;
  std::atomic<void (*)()> thread_listener{nullptr};
};
alignas(64) constinit Recorder recorder;

// This thread's log, or one of two marks that no object has as its address.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadLog* thread_log = nullptr;
ThreadLog* const kBusy = reinterpret_cast<ThreadLog*>(uintptr_t{1});  // inside the recorder
ThreadLog* const kOff = reinterpret_cast<ThreadLog*>(uintptr_t{2});   // this thread has no ring

// Marks the thread as inside the recorder; a signal handler or an allocation hook that calls
// record() meanwhile turns back.
class Inside {
 public:
  Inside() : log(thread_log) {
    thread_log = kBusy;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Inside() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_log = log;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  ThreadLog* log;
};

void count_lost_event() {
  RecordingSession* session = recorder.session.load(std::memory_order_acquire);
  if (session == nullptr || session->file == nullptr) return;
  session->file->header().lost_events.fetch_add(1, std::memory_order_relaxed);
}

// Runs when a thread ends. If a later destructor of the thread records again, it gets a new log.
void end_thread(void* value) {
  auto* log = static_cast<ThreadLog*>(value);
  {
    const Inside inside;
    log->close();
    delete log;
  }
  thread_log = nullptr;
}

// The child has one thread and no session: it must neither write to its parent's rings nor wait
// for locks that its parent's threads held.
void start_afresh_in_child() {
  recorder.session.store(nullptr);
  recorder.finished.store(false);
  recorder.opening = PTHREAD_MUTEX_INITIALIZER;
  recorder.after_fork = true;
  thread_log = nullptr;
  pthread_setspecific(recorder.thread_end, nullptr);
}

[[gnu::noinline, gnu::cold]] ClockKind choose_session_clock() {
  const ClockKind clock = choose_clock();
  recorder.clock.store(static_cast<int>(clock), std::memory_order_relaxed);
  return clock;
}

ClockKind session_clock() {
  const int clock = recorder.clock.load(std::memory_order_relaxed);
  return clock < 0 ? choose_session_clock() : static_cast<ClockKind>(clock);
}

class MutexLock {
 public:
  explicit MutexLock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~MutexLock() { pthread_mutex_unlock(&mutex_); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// Lock order: `opening` is the only lock here; nothing is called back under it.
RecordingSession* session_of_this_process() {
  RecordingSession* session = recorder.session.load(std::memory_order_acquire);
  if (session != nullptr) return session;
  const MutexLock lock(recorder.opening);
  session = recorder.session.load(std::memory_order_acquire);
  if (session != nullptr) return session;
  if (!recorder.prepared) {
    pthread_key_create(&recorder.thread_end, end_thread);
    pthread_atfork(nullptr, nullptr, start_afresh_in_child);
    recorder.prepared = true;
  }
  if (recorder.after_fork) forget_stacks_after_fork();
  recorder.after_fork = false;
  session = open_recording_session(session_clock());
  recorder.session.store(session, std::memory_order_release);
  return session;
}

void warn_of_missing_ring(RecordingSession& session) {
  const char* reason = errno == EFBIG ? "it would exceed the limit of a file's size (ulimit -f)"
                                      : std::strerror(errno);
  if (session.warned_of_ring.exchange(true)) return;
  log_warning("%s: no room for another thread's ring: %s; the events of such threads are lost",
              session.file->path().c_str(), reason);
}

ThreadLog* start_log() {
  RecordingSession* session = session_of_this_process();
  if (session->file == nullptr) return kOff;
  const auto thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  const auto ring = session->file->claim_ring(thread_id);
  if (!ring) {
    warn_of_missing_ring(*session);
    return kOff;
  }
  const Configuration& configuration = session->configuration;
  const bool flight_recorder = configuration.overflow == Overflow::kFlightRecorder;
  std::optional<Ring> window;
  if (flight_recorder) window = session->file->claim_ring(thread_id, RingRole::kWindow);
  ThreadLog* log = nullptr;
  if (window || !flight_recorder) {
    log = new (std::nothrow) ThreadLog(
        {*ring, recorder.api_names, configuration.python_stacks, configuration.native_stacks,
         window, configuration.verify_unwind ? &session->file->header().unwind_check : nullptr});
  }
  if (log == nullptr) {
    RingFileWriter::close_ring(*ring);
    if (window) RingFileWriter::close_ring(*window);
    return kOff;
  }
  pthread_setspecific(recorder.thread_end, log);
  return log;
}

// The first event of a thread. What blocks in here must not be a point at which the job's thread
// can be cancelled.
ThreadLog* start_log_uncancelled() {
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  ThreadLog* log = kOff;
  try {
    log = start_log();
  } catch (...) {
    // Memory is exhausted.
  }
  pthread_setcancelstate(cancel_state, nullptr);
  return log;
}

// Waits for nobody: the lock may be held by the code that a signal handler interrupted.
void replace_dead_drainer_unless_busy(RecordingSession& session) {
  if (pthread_mutex_trylock(&recorder.opening) != 0) return;
  int cancel_state = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  try {
    replace_dead_drainer(session);
  } catch (...) {
    // Memory is exhausted.
  }
  pthread_setcancelstate(cancel_state, nullptr);
  pthread_mutex_unlock(&recorder.opening);
}

// An event found no room: perhaps because nobody drains any more.
void look_after_drainer(RecordingSession& session) {
  constexpr uint64_t kInterval_ns = 100'000'000;
  if (session.drain_thread.load(std::memory_order_relaxed) != nullptr) return;
  const uint64_t now_ns = monotonic_ns();
  uint64_t checked_at_ns = session.drainer_checked_at_ns.load();
  if (now_ns - checked_at_ns < kInterval_ns) return;
  if (!session.drainer_checked_at_ns.compare_exchange_strong(checked_at_ns, now_ns)) return;
  replace_dead_drainer_unless_busy(session);
}

void drain_late_events(RecordingSession& session) {
  DrainThread* drain_thread = session.drain_thread.load();
  if (drain_thread != nullptr) drain_thread->drain_late_events();
}

// Failed for want of memory, of the framework's or the driver's.
bool is_out_of_memory(const Event& event) {
  return event.kind == RecordKind::kBlockOom || event.result == kOutOfMemoryResult;
}

[[gnu::noinline, gnu::cold]] void count_shortage() {
  recorder.session.load(std::memory_order_relaxed)->file->count_shortage();
}

// What an event may leave to be done, all of it rare.
[[gnu::noinline, gnu::cold]] void look_after(RecordingSession& session, bool recorded) {
  if (!recorded) look_after_drainer(session);
  if (recorder.finished.load(std::memory_order_relaxed)) drain_late_events(session);
}

// `append` writes to the thread's log, and says whether the event found room.
template <typename Append>
[[gnu::hot]] inline void write_into(ThreadLog& log, const Append& append) {
  const bool recorded = append(log);
  if (!recorded || recorder.finished.load(std::memory_order_relaxed)) [[unlikely]]
    look_after(*recorder.session.load(std::memory_order_relaxed), recorded);
}

// The thread has no log: its first event, one from inside the recorder, or it can have none.
template <typename Append>
[[gnu::noinline, gnu::cold]] void write_without_log(const Append& append) {
  if (thread_log != nullptr) return count_lost_event();
  {
    Inside inside;
    inside.log = start_log_uncancelled();
    if (inside.log == kOff) return count_lost_event();
    write_into(*inside.log, append);
  }
  if (auto* listener = recorder.thread_listener.load()) listener();
}

bool is_recording() {
  const RecordingSession* session = recorder.session.load(std::memory_order_acquire);
  return session != nullptr && session->file != nullptr;
}

template <typename Append>
[[gnu::hot]] inline void write(const Append& append) {
  if (thread_log == nullptr || thread_log == kBusy || thread_log == kOff) [[unlikely]]
    return write_without_log(append);
  const Inside inside;
  write_into(*inside.log, append);
}

}  // namespace

[[gnu::hot]] uint64_t now_ticks() { return read_clock(session_clock()); }

[[gnu::hot]] uint64_t now_ticks_before_call() { return read_clock_early(session_clock()); }

[[gnu::hot]] void record(Event& event, const CallSite& site) {
  write([&](ThreadLog& log) {
    const bool recorded = log.record(event, site);
    if (is_out_of_memory(event)) [[unlikely]]
      count_shortage();
    return recorded;
  });
}

bool record_mark(const Mark& mark) {
  if (!is_recording()) return false;
  write([&](ThreadLog& log) { return log.record_mark(mark); });
  return true;
}

void record_scope(uint64_t ticks) {
  if (is_recording()) write([&](ThreadLog& log) { return log.record_scope(ticks); });
}

void record_plain(const Event& event) {
  if (is_recording()) write([&](ThreadLog& log) { return log.record_plain(event); });
}

void set_thread_listener(void (*listener)()) { recorder.thread_listener.store(listener); }

void set_api_names(const char* const* names, uint16_t count) {
  recorder.api_names = {names, count};
}

void finish_recording() {
  RecordingSession* session = recorder.session.load(std::memory_order_acquire);
  if (session == nullptr || session->file == nullptr) return;
  if (recorder.finished.exchange(true)) return;
  session->file->header().finished.store(1);
  replace_dead_drainer_unless_busy(*session);
  DrainThread* drain_thread = session->drain_thread.load();
  if (drain_thread != nullptr) drain_thread->finish();
}

}  // namespace vramscope
