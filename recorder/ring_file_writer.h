// The hooked process's side of its ring file: creates it, and hands rings to threads. The
// records themselves are written by ring_writer. Twin: ring_reader.
//
// Immortal and never unmapped: threads may write to their rings until the process is gone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "recorder/ring_file.h"

namespace vramscope {

struct RingFileSetup {
  std::string path;
  uint64_t ring_bytes = kDefaultRingBytes;
  Overflow overflow = Overflow::kWait;
  uint32_t drainer_pid = 0;
  Doorbell* drainer_doorbell = nullptr;  // nullptr: that in the file's header, if anybody listens
  ClockKind clock = ClockKind::kMonotonicNs;
  ClockPoint start{};
  std::string process_info;  // cut at kProcessInfoBytes - 1
};

// One thread's ring, mapped.
struct Ring {
  RingControl* control;
  std::byte* records;
  uint64_t bytes;
  uint32_t index = 0;
  const std::atomic<Doorbell*>* doorbell = nullptr;  // nullptr: nobody is woken
};

class RingFileWriter {
 public:
  // The file must not exist yet. The space of header and controls is allocated at once
  // (posix_fallocate: a full disk is an error here, never a SIGBUS later). nullptr: failed, errno
  // says why, and nothing is left behind.
  static RingFileWriter* create(const RingFileSetup& setup);

  // A ring for a new thread: one that an ended thread left, else a new one at the end of the file.
  // nullopt: no space or no number left; counted in lost_rings. No lock; any thread.
  std::optional<Ring> claim_ring(uint32_t thread_id, RingRole role = RingRole::kRecords);

  // The thread writes no more; whoever drains frees the ring.
  static void close_ring(const Ring& ring);

  // Whether whoever is to drain this file is there: as far as locks and its process id tell.
  bool drainer_lives();

  // From now on it is a thread of this process that drains, and is woken.
  void set_own_drainer();

  // Memory ran out: the windows of a flight recorder are wanted.
  void count_shortage();

  void wake_drainer(uint32_t what) {
    ring_doorbell(*doorbell_.load(std::memory_order_relaxed), what);
  }

  RingFileHeader& header() { return *header_; }
  const std::string& path() const { return path_; }

 private:
  RingFileWriter(const RingFileSetup& setup, int fd, std::byte* mapping);
  std::optional<Ring> reuse_ring(uint32_t thread_id, RingRole role);
  std::optional<Ring> append_ring(uint32_t thread_id, RingRole role);
  Ring ring_at(uint32_t index, std::byte* records) const;
  bool own_descriptor();

  const std::string path_;
  const uint64_t ring_bytes_;
  RingFileHeader* const header_;
  RingControl* const controls_;
  std::atomic<Doorbell*> doorbell_;
  std::atomic<uint32_t> next_ring_{0};
  std::array<std::atomic<std::byte*>, kMaxRings> mapped_rings_{};
  std::atomic<int> fd_;  // kept open: it holds the lock
  const uint64_t created_at_ns_;
  uint64_t device_ = 0;  // identity of the file behind fd_
  uint64_t inode_ = 0;
};

}  // namespace vramscope
