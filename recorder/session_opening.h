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
  RingFileWriter* file = nullptr;       // nullptr: recording is off in this process
  DrainThread* drain_thread = nullptr;  // nullptr: someone else drains
  std::atomic<bool> finished{false};    // finish_recording() was called
};

// Never fails: what cannot be opened is named in one warning, and recording is off. Allocates, and
// blocks on the disk; one thread at a time.
RecordingSession* open_recording_session(ClockKind clock);

}  // namespace vramscope
