// Reads a ring file from outside: drains a living process's, or looks into a dead one's. Twin of
// ring_file_writer and ring_writer.
//
// Whatever the file holds is treated as hostile: positions, lengths and offsets are checked first.
// Records are read by pread(), so that a file that shrinks is an error, not a signal; only the
// header and the controls are mapped, and only for draining.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recorder/info_text.h"
#include "recorder/ring_file.h"

namespace vramscope {

// Whole records of one ring, in order.
struct RingRecords {
  bool window = false;  // events of a flight recorder's window: there may be a gap before them
  uint64_t begin_position = 0;
  uint32_t events = 0;
  std::vector<std::byte> bytes;  // empty: nothing pending
  std::string problem;           // not empty: what stopped the reading behind `bytes`, and where

  uint64_t end_position() const { return begin_position + bytes.size(); }
};

class RingReader {
 public:
  enum class Access { kDrain, kLook };

  // nullptr: the file is not ready yet (its process is about to write the header). Throws
  // FileError.
  static std::unique_ptr<RingReader> open(const std::string& path, Access access);
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  // kDrain only. False: somebody else drains this file. Nobody may drain who has not claimed it.
  bool claim();

  const std::string& path() const { return path_; }
  uint32_t pid() const { return header_->pid; }
  uint32_t drainer_pid() const { return header_->drainer_pid; }
  uint64_t ring_bytes() const { return ring_bytes_; }
  ClockKind clock() const;
  bool is_flight_recorder() const { return header_->overflow == Overflow::kFlightRecorder; }
  uint32_t shortages() const { return header_->shortages.load(); }
  // Whether the doorbell of drainer_pid() is rung for this file.
  bool rings_doorbell() const { return header_->rings_doorbell == 1; }
  Doorbell& own_doorbell() { return header_->doorbell; }
  bool finished() const { return header_->finished.load() == 1; }
  InfoMap process_info() const;
  uint32_t ring_count() const;
  uint64_t lost_events() const;  // of all rings and of threads without one

  bool closed(uint32_t ring) const { return controls_[ring].state.load() == RingState::kClosed; }
  bool is_window(uint32_t ring) const {
    return controls_[ring].role.load(std::memory_order_relaxed) == RingRole::kWindow;
  }
  uint64_t drained_position(uint32_t ring) const { return controls_[ring].read_position.load(); }
  const UnwindCheck& unwind_check() const { return header_->unwind_check; }
  uint64_t pending_bytes(uint32_t ring) const;
  uint64_t written_bytes() const;  // of all rings, since they began

  // Where a reader goes on that has read everything before `wanted`: not before what was drained
  // or overwritten (the writer may have used that space again), not behind what was written.
  uint64_t resume_position(uint32_t ring, std::optional<uint64_t> wanted) const;

  // kLook only. What each ring holds at this moment, even while its process records and somebody
  // drains: what was drained meanwhile is left out, and is in the session file for who reads that
  // afterwards. Takes over the file's counters too.
  std::vector<RingRecords> look();

  // The next records, at most `max_bytes` of them (at least one record); stops at the ring's end:
  // call again until nothing is pending. `from`: position of the first one.
  void read(uint32_t ring, uint64_t from, size_t max_bytes, RingRecords& records) const;

  // kDrain only. The space before `position` is the writer's again; `position` comes from read().
  void release(uint32_t ring, uint64_t position);

  // kDrain only. A closed ring that is empty may be taken by a new thread.
  void free_if_drained(uint32_t ring);

  bool is_deleted() const;

  // Whether the process that writes still has the file: locked or mapped.
  bool process_lives() const;

 private:
  RingReader(const std::string& path, int fd, Access access);
  void map_controls();
  void copy_controls();
  bool positions_are_possible(uint32_t ring, uint64_t begin, uint64_t end) const;
  void copy_records(uint32_t ring, uint64_t begin, uint64_t end, RingRecords& records) const;
  uint64_t oldest_position(uint32_t ring) const;
  static void leave_out_before(uint64_t position, RingRecords& records);
  void keep_whole_records(uint32_t ring, RingRecords& records) const;
  void check_header() const;

  const std::string path_;
  const int fd_;
  const Access access_;
  std::byte* controls_bytes_ =
      nullptr;  // mapped (kDrain) or copied (kLook): kFirstRingOffset bytes
  RingFileHeader* header_ = nullptr;
  RingControl* controls_ = nullptr;
  uint64_t ring_bytes_ = 0;  // checked once: the mapping may change
};

}  // namespace vramscope
