// Opens what a process records into: folder, ring file, drainer.
#pragma once

#include <atomic>

#include "recorder/configuration.h"
#include "recorder/drain_thread.h"
#include "recorder/ring_file_writer.h"

namespace vramscope {

// One process's recording. Immortal.
struct RecordingSession {
  Configuration configuration;
  ClockKind clock = ClockKind::kMonotonicNs;
  RingFileWriter* file = nullptr;  // nullptr: recording is off in this process
  std::string session_path;
  std::atomic<DrainThread*> drain_thread{nullptr};  // nullptr: someone else drains
  std::atomic<bool> warned_of_ring{false};
  std::atomic<uint64_t> drainer_checked_at_ns{0};
};

// Never fails: what cannot be opened is named in one warning, and recording is off. Allocates, and
// blocks on the disk; one thread at a time.
RecordingSession* open_recording_session(ClockKind clock);

// If whoever drained the session is dead, a thread of this process goes on. One thread at a time;
// allocates, and blocks on the disk if so.
void replace_dead_drainer(RecordingSession& session);

}  // namespace vramscope
