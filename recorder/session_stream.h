// One process's session, event by event in the order of time: what is larger than memory can be
// read so. Twin of session_writer; session_reader makes a whole Session of it.
//
//   NAME.vrams: chunks ----+
//                          |--> one queue of decoded events a ring --> next(): the earliest of all
//   NAME.ring:  rings  ----+    (a chunk or two)
//
// Files are hostile: every length, offset and position is checked before it is used. Memory grows
// with what is in the file, never with what a header claims.
//
// The process may still run and be drained: what is read is a prefix of what each thread did.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recorder/chunk_reader.h"
#include "recorder/record_decoder.h"
#include "recorder/ring_reader.h"
#include "recorder/session.h"

namespace vramscope {

class SessionStream {
 public:
  // `path`: NAME.vrams or NAME.ring; both are read where both exist. Throws FileError where nothing
  // can be read: not a session file, empty, of a newer version, cut before its first chunk.
  explicit SessionStream(const std::string& path);
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  // Ordered as Session::events; nullptr: that was the last one. Valid until the next call.
  const SessionEvent* next();

  // After the last event: next() begins again, with the very same events.
  void rewind();

  // Who the process was, and what the ids in the events that next() has returned stand for;
  // `events` stays empty. lost_events, complete and problems are final after the last event.
  Session& session() { return session_; }

 private:
  // Events of one ring: decoded ones from `begin` on, then those of `chunks` from `next_chunk` on,
  // then `left`.
  struct Queue {
    bool window = false;  // of a flight recorder
    std::vector<ChunkReader::Place> chunks;
    size_t next_chunk = 0;
    RingRecords left;       // not drained
    bool has_left = false;  // and not decoded yet
    std::vector<SessionEvent> events;
    size_t begin = 0;
  };

  void fill_all();
  std::string first_problem() const;
  void look_into_ring_file();
  std::unique_ptr<RingReader> open_ring_file();
  void open_session_file();
  void scan_session_file();
  void take_chunk(const ChunkReader::Place& place);
  void describe_process();
  void count_lost_events();
  void step_on();
  void fill(uint32_t ring);
  bool decode_more(uint32_t ring);
  void decode(const std::string& path, uint32_t ring, uint64_t begin_position,
              std::span<const std::byte> records);
  void say_what_was_overwritten();
  void add_problem(std::string problem);

  // Compares rings by their next events: a heap's first one is the earliest.
  auto later_first() const {
    return [this](uint32_t a, uint32_t b) { return is_before(b, a); };
  }
  bool is_before(uint32_t ring, uint32_t other) const;

  Session session_;
  RecordDecoder decoder_;
  std::unique_ptr<ChunkReader> chunks_;
  std::string ring_path_;          // empty: a file of another name has none
  std::vector<Queue> queues_;      // by ring
  std::vector<uint32_t> waiting_;  // a heap of the rings that have events, the earliest first
  bool returned_ = false;          // next() has returned the first event of the first ring
  bool rewound_ = false;
  bool running_ = false;
  bool ended_ = false;             // next() has returned nullptr
  uint64_t lost_events_said_ = 0;  // in the session file
  uint64_t lost_in_rings_ = 0;
};

}  // namespace vramscope
