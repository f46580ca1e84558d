// Moves one process's records from its ring file into its session file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recorder/ring_reader.h"
#include "recorder/session_writer.h"

namespace vramscope {

// NAME of NAME.ring and NAME.vrams.
std::string session_name_of(const std::string& path);

class ProcessDrain {
 public:
  // `reader` was opened with kDrain and claimed. The session file is created with the first
  // records, so that a full disk may get room before; one that a drainer before this one left is
  // gone on with.
  explicit ProcessDrain(std::unique_ptr<RingReader> reader);
  ProcessDrain(std::unique_ptr<RingReader> reader, std::string session_path);

  // What a call of drain() takes: rings that are worth a chunk, or have waited for a second; or
  // everything.
  enum class Amount { kWorthwhile, kEverything };

  // Bytes drained; 0: nothing to do, or the session file cannot be written now (one warning; tried
  // again later, meanwhile the records stay in the rings).
  uint64_t drain(Amount amount);

  // Whether the process has recorded anything between the last two calls of drain().
  bool active() const { return active_; }

  // Drains everything, then completes the session file. `process_ended`: it can write no more, so
  // the ring file is removed. False: could not be written; the ring file stays.
  bool finish(bool process_ended);

  // The first thing that went wrong with the session file, as it was logged; empty: nothing.
  const std::string& problem() const { return problem_; }

  bool process_lives() const { return reader_->process_lives(); }
  uint32_t pid() const { return reader_->pid(); }
  const std::string& ring_path() const { return reader_->path(); }
  const std::string& session_path() const { return session_path_; }
  RingReader& reader() { return *reader_; }
  uint64_t events() const { return writer_ ? writer_->events() : 0; }
  uint64_t lost_events() const { return reader_->lost_events(); }
  // By a flight recorder, before they were drained.
  uint64_t overwritten_events() const { return overwritten_events_; }
  const UnwindCheck& unwind_check() const { return reader_->unwind_check(); }
  // How often memory ran out, of a framework's allocator or of the driver's.
  uint32_t shortages() const { return reader_->shortages(); }

 private:
  bool open_session();
  bool create_session();
  bool resume_session();
  bool is_due(uint32_t ring, bool dump, uint64_t now_ns) const;
  uint64_t drain_ring(uint32_t ring);
  bool write_end_point();
  bool report(const char* what);
  void log_problem(const std::string& problem);

  const std::unique_ptr<RingReader> reader_;
  const std::string session_path_;
  std::unique_ptr<SessionWriter> writer_;
  RingRecords records_;
  std::vector<uint64_t> drained_at_ns_;  // per ring: when it was last found empty or drained
  std::vector<bool> damaged_;            // per ring: nothing more can be read from it
  uint64_t written_ = 0;                 // sum of the rings' write positions
  uint64_t overwritten_events_ = 0;
  uint32_t dumps_ = 0;  // requests that were served
  bool active_ = false;
  uint64_t end_point_at_ns_ = 0;
  uint64_t retry_at_ns_ = 0;
  std::string problem_;
};

}  // namespace vramscope
