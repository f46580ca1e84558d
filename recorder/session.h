// One process's recording in memory: what session_reader makes of a session file and, if the
// process or its drainer was killed, of the ring file beside it.
//
// Everything comes from a file that may be damaged: ids need not be defined, and every lookup may
// find nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/info_text.h"
#include "recorder/module_ranges.h"
#include "recorder/record.h"
#include "recorder/ring_file.h"

namespace vramscope {

struct SessionEvent {
  Event event;
  uint32_t thread;  // index into Session::threads
};

// A native thread, as long as it used one ring.
struct SessionThread {
  uint32_t thread_id;
  std::string name;
};

struct NativeModule {
  uint64_t begin;  // mapped range of the code
  uint64_t end;
  uint64_t bias;         // address in memory - address in the ELF file
  std::string build_id;  // hexadecimal; empty if the file has none
  std::string path;
};

// A frame of a native stack.
struct NativeFrame {
  uint64_t return_address;
  // Index into Session::modules: what lay there when the stack was recorded. kNoModule: nothing
  // known.
  uint32_t module;

  bool operator==(const NativeFrame&) const = default;
};

struct PythonCode {
  int32_t first_line;
  uint16_t python_minor;
  std::string name;            // co_name
  std::string qualified_name;  // co_qualname; before 3.11 the name
  std::string filename;
  std::string line_table;  // bytes; see python_lines.h
};

// Frames of all stacks one behind the other: an id names a range of them.
template <typename Frame>
class StackTable {
 public:
  // Innermost frame first; empty for an id without definition.
  std::span<const Frame> find(uint32_t id) const {
    const auto found = ranges_.find(id);
    if (found == ranges_.end()) return {};
    return std::span(frames_).subspan(found->second.begin, found->second.count);
  }
  // The first definition of an id counts.
  void add(uint32_t id, std::span<const Frame> frames) {
    const Range range{frames_.size(), frames.size()};
    if (ranges_.emplace(id, range).second) {
      frames_.insert(frames_.end(), frames.begin(), frames.end());
    }
  }
  size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    size_t begin;
    size_t count;
  };
  std::vector<Frame> frames_;
  std::unordered_map<uint32_t, Range> ranges_;
};

struct Session {
  std::string path;  // of the session file; of the ring file if there is no session file
  InfoMap info;      // keys: process_info.h

  // From `info`; 0 or empty where it does not say.
  uint32_t pid = 0;
  std::optional<uint32_t> rank;
  std::string host;
  std::string command;

  std::vector<SessionThread> threads;
  std::unordered_map<uint32_t, std::string> api_names;  // by Event::api
  std::vector<NativeModule> modules;                    // as defined, ring by ring
  std::unordered_map<uint32_t, PythonCode> python_codes;
  std::unordered_map<uint32_t, std::string> texts;  // that marks refer to
  StackTable<NativeFrame> native_stacks;
  StackTable<PythonFrame> python_stacks;

  // By ticks; equal ticks by thread, then in the order in which they were recorded.
  std::vector<SessionEvent> events;

  // Events that the process made and nobody could keep: no room in a ring, no ring.
  uint64_t lost_events = 0;
  // Among them those that a flight recorder wrote over.
  uint64_t overwritten_events = 0;

  // The file has its end and no damage: everything that was recorded, except lost_events, is here.
  bool complete = false;
  // The process left by exit, not by a signal or _exit. Of no meaning for what is in the session.
  bool finished = false;
  // What is wrong with the files or not in them, for the user: one line each.
  std::vector<std::string> problems;

  // Time of `ticks` by the two clock points in `info`.
  int64_t unix_ns(uint64_t ticks) const;

  ClockPoint start{};
  ClockPoint end{};  // ticks equal to start's: the rate is unknown, and taken as 1 ns
};

}  // namespace vramscope
