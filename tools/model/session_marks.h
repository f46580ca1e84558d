// Ranges of a session: NVTX's, and calls of optimizers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "recorder/session.h"
#include "tools/model/optimizer_calls.h"
#include "tools/model/recording.h"
#include "tools/model/session_stacks.h"

namespace vramscope {

// Fed with the events in order; fills ProcessRecording::ranges and annotations.
//
// A range whose end is not in the recording ends with it. An end without a beginning is left out:
// the range began before the recording, or its beginning was lost.
class SessionMarks {
 public:
  SessionMarks(const Session& session, ProcessRecording& process, SessionStacks& stacks)
      : session_(session), process_(process), stacks_(stacks), calls_(session) {}

  // Whether note() has anything to do with the event.
  bool wants(const SessionEvent& recorded) const {
    return is_mark(recorded.event.kind) || open_calls_.contains(recorded.thread);
  }

  // `now`: the moment after the event.
  void note(const SessionEvent& recorded, const Moment& now);

  // After the last event.
  void finish(const Moment& now);

 private:
  using Index = size_t;  // in ProcessRecording::ranges

  // step() has no event of its own for its end. It ends after the last event of its thread whose
  // stack still has the call in it.
  struct OpenCall {
    OptimizerCall call;
    Index range;
  };

  Index open(RangeKind kind, const SessionEvent& recorded, const Moment& now);
  void close(Index range, const Moment& now);
  void follow_call(const SessionEvent& recorded, const Moment& now);
  bool begin_call(const SessionEvent& recorded, const Moment& now);
  void pop(const SessionEvent& recorded, const Moment& now);
  void end_started(const SessionEvent& recorded, const Moment& now);
  StringId text(uint64_t id);
  void annotate();

  const Session& session_;
  ProcessRecording& process_;
  SessionStacks& stacks_;
  OptimizerCalls calls_;
  std::map<uint32_t, OpenCall> open_calls_;                             // by thread
  std::map<std::pair<uint32_t, StringId>, std::vector<Index>> pushed_;  // by thread and domain
  std::map<uint64_t, Index> started_;                                   // by number
};

}  // namespace vramscope
