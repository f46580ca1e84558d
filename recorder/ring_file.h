// The shared mapping between a hooked process (ring_file_writer, ring_writer) and whoever drains it
// (ring_reader): one file per process.
//
//   offset 0     RingFileHeader                one page
//   4096         process information           key=value lines (info_text.h), kProcessInfoBytes,
//                                              written before the magic
//   8192         RingControl[kMaxRings]        192 bytes each
//   204800       ring 0, ring 1, ...           ring_bytes each, appended when a thread first
//                                              records and no ring is free
//
// A ring is a power of two bytes. write_position and read_position count bytes since the ring began
// and never wrap; the record at position p lies at p & (ring_bytes - 1), whole: a kPadding record
// fills the end of the ring where the next one does not fit.
//
// As a flight recorder (Overflow::kFlightRecorder) each thread has two rings of half the size: one
// for its definitions, drained as ever, and a window (RingRole::kWindow) of its last events, one
// after the other without padding, which is written over and drained only on demand. In a window of
// write_position w the events from w + 64 - ring_bytes on are whole; the one before may be about to
// be overwritten. A kWindow definition says whose events a window holds, and from which position.
//
//   writer: stores the record, then write_position with release order. A torn record is behind
//           write_position and is ignored.
//   reader: loads write_position with acquire order, copies, saves, then stores read_position with
//           release order: the space is the writer's again.
//
// The file lies beside the session file as NAME.ring and is removed when everything was drained
// after the process's end. What a dead process left in it is as good as drained: session readers
// read it too. While the process lives it holds a POSIX write lock on the first byte and has the
// file mapped: both end with exit, exec and kill alike, and no fork inherits them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/doorbell.h"
#include "recorder/stacks/unwind_check.h"

namespace vramscope {

constexpr uint64_t kRingFileMagic = 0x3130474e49525356;  // "VSRING01" in the file
constexpr uint32_t kRingFileVersion = 1;
constexpr char kRingFileSuffix[] = ".ring";
constexpr size_t kProcessInfoOffset = 4096;
constexpr size_t kProcessInfoBytes = 4096;
constexpr size_t kRingControlOffset = kProcessInfoOffset + kProcessInfoBytes;
constexpr uint32_t kMaxRings = 1024;
constexpr uint64_t kMinRingBytes = 64 << 10;
constexpr uint64_t kMaxRingBytes = 64 << 20;
constexpr uint64_t kDefaultRingBytes = 1 << 20;

enum class ClockKind : uint32_t { kMonotonicNs = 0, kInvariantTsc = 1 };

enum class Overflow : uint32_t {
  kWait = 0,            // wait a bounded time for room, then drop and count the newest
  kFlightRecorder = 1,  // write over the oldest
};

// One instant in both clocks.
struct ClockPoint {
  uint64_t ticks;
  uint64_t unix_ns;
};

struct RingFileHeader {
  std::atomic<uint64_t> magic;  // stored last, with release order: 0 is not ready
  uint32_t version;
  uint32_t pid;
  uint64_t ring_bytes;
  ClockKind clock;
  std::atomic<uint32_t> ring_count;  // controls in use; only grows
  ClockPoint start;
  std::atomic<uint32_t> finished;     // 1: finish_recording() was called: the process left by exit
  std::atomic<uint32_t> lost_rings;   // threads that got no ring (full disk, too many threads)
  std::atomic<uint64_t> lost_events;  // events that met no ring; those that a ring had no room for
                                      // are counted in its control
  uint32_t drainer_pid;               // process that drains; 0: a thread of this process
  Overflow overflow;
  std::atomic<uint32_t> was_claimed;  // 1: somebody has held the drainer's lock; 2: somebody
                                      // drains and there are no locks in this file system
  std::atomic<uint32_t> shortages;    // how often memory ran out: then windows' contents are wanted
  uint32_t rings_doorbell;            // 1: drainer_pid's doorbell is rung, no need to look often
  Doorbell doorbell;                  // for a drainer in the same process
  UnwindCheck unwind_check;           // all 0 without VRAMSCOPE_VERIFY_UNWIND
  uint32_t reserved[4];
};
static_assert(sizeof(RingFileHeader) == 128);
static_assert(offsetof(RingFileHeader, lost_events) == 56);
static_assert(offsetof(RingFileHeader, unwind_check) == 88);
static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

enum class RingState : uint32_t {
  kFree = 0,    // unused, or drained after its thread ended: the next new thread may take it
  kInUse = 1,   // a thread writes
  kClosed = 2,  // the thread has ended; the reader frees it when it has drained it
};

enum class RingRole : uint32_t { kRecords = 0, kWindow = 1 };

// Three cache lines, so that writer and reader never share one.
struct RingControl {
  alignas(64) std::atomic<RingState> state;
  std::atomic<uint32_t> thread_id;
  std::atomic<uint64_t> file_offset;  // 0: this ring has no space in the file (yet)
  std::atomic<RingRole> role;         // for ever
  uint32_t reserved;
  uint64_t reserved1[5];
  alignas(64) std::atomic<uint64_t> write_position;
  std::atomic<uint64_t> dropped_events;  // since the ring began
  uint64_t reserved2[6];
  alignas(64) std::atomic<uint64_t> read_position;
  uint64_t reserved3[7];
};
static_assert(sizeof(RingControl) == 192);

constexpr size_t kFirstRingOffset = kRingControlOffset + kMaxRings * sizeof(RingControl);
static_assert(kFirstRingOffset == 204800 && kFirstRingOffset % 4096 == 0);

}  // namespace vramscope
