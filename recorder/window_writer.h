// One thread's end of its flight recorder's window: writes over the oldest event. Twin of
// ring_reader. Used by its thread alone; never waits.
#pragma once

#include <atomic>
#include <cstring>

#include "recorder/record.h"
#include "recorder/ring_file_writer.h"

namespace vramscope {

class WindowWriter {
 public:
  explicit WindowWriter(const Ring& ring)
      : ring_(ring), position_(ring.control->write_position.load(std::memory_order_relaxed)) {}

  void append(const Event& event) {
    // Who sees this event's bytes also sees the position from which on it is not to be read.
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(ring_.records + (position_ & (ring_.bytes - 1)), &event, sizeof(event));
    position_ += sizeof(event);
    ring_.control->write_position.store(position_, std::memory_order_release);
  }

  uint64_t position() const { return position_; }
  const Ring& ring() const { return ring_; }

 private:
  const Ring ring_;
  uint64_t position_;
};

}  // namespace vramscope
