// One thread's end of its ring: appends records. Twin of ring_reader.
//
//        read_position        write_position
//             |                     |
//   ----------[records not drained]-[free.........]---   positions only grow; the ring holds
//             <----- at most ring bytes ---------->      position & (bytes - 1)
//
// It wakes whoever drains when the ring is half full. Where there is no room, it waits at most
// kMaxWait_us for all records between two calls of begin_event() together, and not at all after
// whoever drains has not moved for kPatience_us: it is dead, or its disk is full. Then the record
// is refused; refused events are counted, and reported by a kDropped record as soon as there is
// room.
//
// Used by its thread alone. No lock, no allocation, no system call except while waiting.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

#include "recorder/record.h"
#include "recorder/ring_file_writer.h"

namespace vramscope {

// Takes the cache line away from the drainer's processor ahead of time: a store that has to wait
// for it holds up the next atomic operation of the job, such as the unlocking of its allocator.
inline void prefetch_for_write(const std::byte* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 1);
#endif
}

class RingWriter {
 public:
  static constexpr uint64_t kMaxWait_us = 1000;
  static constexpr uint64_t kPatience_us = 1'000'000;

  explicit RingWriter(const Ring& ring);

  void begin_event() { wait_deadline_ns_ = 0; }

  // False: dropped and counted.
  bool append(const Event& event) {
    const uint64_t offset = write_position_ & mask_;
    if (write_position_ + sizeof(Event) > unwatched_end_ || offset + sizeof(Event) > ring_.bytes ||
        dropped_.events != 0) [[unlikely]] {
      return append_slowly(event);
    }
    std::memcpy(ring_.records + offset, &event, sizeof(Event));
    publish(sizeof(Event));
    return true;
  }

  // An event that has to be left out although there may be room for it.
  void drop(const Event& event);

  // Reports what was dropped. False: no room now.
  bool report_dropped();

  // What does not fit the record's length field or half the ring is cut, and flagged so. False: no
  // room now.
  bool append_definition(RecordKind kind, uint32_t id,
                         std::initializer_list<std::span<const std::byte>> parts, uint8_t flags);

  // An event that could not even be tried (a call from inside the recorder). From signal handlers
  // too.
  void count_dropped_event() { control_.dropped_events.fetch_add(1, std::memory_order_relaxed); }

  const Ring& ring() const { return ring_; }

 private:
  bool append_slowly(const Event& event);
  std::byte* reserve(uint64_t bytes);
  void publish(uint64_t bytes) {
    constexpr uint64_t kAhead = 4 * sizeof(Event);
    write_position_ += bytes;
    control_.write_position.store(write_position_, std::memory_order_release);
    prefetch_for_write(ring_.records + ((write_position_ + kAhead) & mask_));
  }
  bool make_room(uint64_t bytes);
  bool make_room_slowly(uint64_t bytes);
  bool wait_for_room(uint64_t bytes);
  void wake_drainer() const;

  RingControl& control_;
  const uint64_t mask_;
  uint64_t write_position_;
  uint64_t unwatched_end_;         // up to here there is room and nobody need be woken
  uint64_t wait_deadline_ns_ = 0;  // 0: not waited since begin_event()
  DroppedDefinition dropped_{};    // not yet reported
  const Ring ring_;
  uint64_t known_read_position_;  // at least this much has been drained
  // Where read_position stood when a wait was in vain, and since when.
  uint64_t stalled_position_ = ~0ull;
  uint64_t stalled_since_ns_ = 0;
};

}  // namespace vramscope
