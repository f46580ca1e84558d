// Turns the records of one process, ring by ring, into what they define and the events. Used by
// session_stream.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "recorder/module_ranges.h"
#include "recorder/session.h"

namespace vramscope {

class RecordDecoder {
 public:
  explicit RecordDecoder(Session& session) : session_(session) {}

  // Whole records of `ring` from `begin_position` on: definitions go to the session, events to the
  // end of `events`. What lies before the position that was already decoded is skipped. Returns
  // false if records are missing between the two.
  bool decode(uint32_t ring, uint64_t begin_position, std::span<const std::byte> records,
              std::vector<SessionEvent>& events);

  // All records again, from the first one on. What they define stays defined.
  void start_over();

  // Events of a flight recorder's window: missing ones were overwritten. Behind all definitions.
  void decode_window(uint32_t ring, uint64_t begin_position, std::span<const std::byte> records,
                     std::vector<SessionEvent>& events);

  uint64_t dropped_events() const { return dropped_events_; }
  uint64_t overwritten_events() const { return overwritten_events_; }

 private:
  static constexpr uint32_t kUnknownThread = ~0u;
  struct RingState {
    uint64_t next_position = 0;
    uint32_t thread = kUnknownThread;
    ModuleRanges modules;                         // of the thread, at this position of its stream
    std::map<uint64_t, uint32_t> window_threads;  // by the position of the first event
  };

  SessionEvent event_of(std::span<const std::byte> record, RingState& ring);
  static uint32_t thread_at(const RingState& window, uint64_t position);
  void add_definition(std::span<const std::byte> record, RingState& ring);
  uint32_t add_thread(uint32_t thread_id, std::span<const std::byte> payload);
  void add_module(std::span<const std::byte> payload, RingState& ring);
  void add_native_stack(uint32_t id, std::span<const std::byte> payload, const RingState& ring);
  void add_python_code(uint32_t id, std::span<const std::byte> payload);

  Session& session_;
  std::map<uint32_t, RingState> rings_;
  uint64_t dropped_events_ = 0;
  uint64_t overwritten_events_ = 0;
};

}  // namespace vramscope
