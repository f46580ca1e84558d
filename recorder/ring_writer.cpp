#include "recorder/ring_writer.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "recorder/clock.h"

namespace vramscope {
namespace {

constexpr uint64_t kWaitStep_ns = 20'000;

// Not nanosleep(): that is a cancellation point, and the job's threads may be cancelled.
void sleep_ns(uint64_t ns) {
  const timespec duration{0, static_cast<long>(ns)};
  syscall(SYS_nanosleep, &duration, nullptr);
}

constexpr uint64_t round_up_to_words(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

}  // namespace

RingWriter::RingWriter(const Ring& ring)
    : control_(*ring.control),
      mask_(ring.bytes - 1),
      write_position_(control_.write_position.load(std::memory_order_relaxed)),
      unwatched_end_(control_.read_position.load(std::memory_order_acquire) + ring.bytes / 2),
      ring_(ring),
      known_read_position_(unwatched_end_ - ring.bytes / 2) {}

bool RingWriter::append_slowly(const Event& event) {
  std::byte* place = report_dropped() ? reserve(sizeof(Event)) : nullptr;
  if (place == nullptr) {
    drop(event);
    return false;
  }
  memcpy(place, &event, sizeof(Event));
  publish(sizeof(Event));
  return true;
}

bool RingWriter::append_definition(RecordKind kind, uint32_t id,
                                   std::initializer_list<std::span<const std::byte>> parts,
                                   uint8_t flags) {
  const uint64_t longest = std::min<uint64_t>(kMaxDefinitionBytes, ring_.bytes / 2);
  uint64_t bytes = sizeof(DefinitionHeader);
  for (const auto& part : parts) bytes += part.size();
  if (bytes > longest) flags |= kTruncatedDefinition;
  const uint64_t record_bytes = round_up_to_words(std::min(bytes, longest));
  std::byte* place = reserve(record_bytes);
  if (place == nullptr) return false;

  const DefinitionHeader header{kind, flags, static_cast<uint16_t>(record_bytes / 8), id};
  memcpy(place, &header, sizeof(header));
  uint64_t filled = sizeof(header);
  for (const auto& part : parts) {
    const uint64_t taken = std::min<uint64_t>(part.size(), record_bytes - filled);
    if (taken != 0) memcpy(place + filled, part.data(), taken);
    filled += taken;
  }
  memset(place + filled, 0, record_bytes - filled);
  publish(record_bytes);
  return true;
}

// The place of a record of `bytes`, after padding to the ring's start if its end is too small.
std::byte* RingWriter::reserve(uint64_t bytes) {
  const uint64_t to_end = ring_.bytes - (write_position_ & mask_);
  const uint64_t padding = to_end < bytes ? to_end : 0;
  if (!make_room(padding + bytes)) return nullptr;
  if (padding != 0) {
    const DefinitionHeader header{RecordKind::kPadding, 0, static_cast<uint16_t>(padding / 8), 0};
    memcpy(ring_.records + (write_position_ & mask_), &header, sizeof(header));
    write_position_ += padding;
  }
  return ring_.records + (write_position_ & mask_);
}

bool RingWriter::make_room(uint64_t bytes) {
  return write_position_ + bytes <= unwatched_end_ || make_room_slowly(bytes);
}

bool RingWriter::make_room_slowly(uint64_t bytes) {
  known_read_position_ = control_.read_position.load(std::memory_order_acquire);
  const uint64_t end = write_position_ + bytes;
  unwatched_end_ = known_read_position_ + ring_.bytes / 2;
  if (end <= unwatched_end_) return true;
  wake_drainer();
  const uint64_t full_end = known_read_position_ + ring_.bytes;
  if (end > full_end) return wait_for_room(bytes);
  // Until it has been drained the reader's cache line is looked at now and then only.
  unwatched_end_ = std::min(full_end, end + ring_.bytes / 16);
  return true;
}

void RingWriter::wake_drainer() const {
  if (ring_.doorbell == nullptr) return;
  ring_doorbell(*ring_.doorbell->load(std::memory_order_relaxed), kWorkRung);
}

bool RingWriter::wait_for_room(uint64_t bytes) {
  const bool stalled = known_read_position_ == stalled_position_;
  uint64_t now_ns = monotonic_ns();
  if (stalled && now_ns - stalled_since_ns_ > kPatience_us * 1000) return false;
  if (wait_deadline_ns_ == 0) wait_deadline_ns_ = now_ns + kMaxWait_us * 1000;
  while (now_ns < wait_deadline_ns_) {
    sleep_ns(std::min(kWaitStep_ns, wait_deadline_ns_ - now_ns));
    known_read_position_ = control_.read_position.load(std::memory_order_acquire);
    if (write_position_ + bytes - known_read_position_ <= ring_.bytes) return true;
    now_ns = monotonic_ns();
  }
  if (known_read_position_ != stalled_position_) stalled_since_ns_ = now_ns;
  stalled_position_ = known_read_position_;
  return false;
}

void RingWriter::drop(const Event& event) {
  count_dropped_event();
  if (dropped_.events == 0) dropped_.first_ticks = event.ticks;
  ++dropped_.events;
  dropped_.last_ticks = event.ticks;
}

bool RingWriter::report_dropped() {
  if (dropped_.events == 0) return true;
  const auto payload = std::as_bytes(std::span(&dropped_, 1));
  if (!append_definition(RecordKind::kDropped, 0, {payload}, 0)) return false;
  dropped_ = {};
  return true;
}

}  // namespace vramscope
