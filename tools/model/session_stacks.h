// Stacks of a session's events as named frames.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recorder/session.h"
#include "tools/model/recording.h"

namespace vramscope {

// note() every event, then name_native_frames(), then of() for any event.
//
// Python frames where the event has them, named as PyTorch's own recorder names them (co_name,
// filename, line), innermost first. Without them, or behind them if `append_native`, the native
// frames.
class SessionStacks {
 public:
  // Both must outlive this object.
  SessionStacks(const Session& session, ProcessRecording& process, bool append_native);

  void note(const Event& event);
  // Of all that were noted; may take a while.
  void name_native_frames();

  StackId of(const Event& event);
  StackId of(std::span<const PythonFrame> frames);

 private:
  struct NativeFrameHash {
    size_t operator()(const NativeFrame& frame) const {
      return std::hash<uint64_t>()(frame.return_address ^ uint64_t{frame.module} << 48);
    }
  };

  bool needs_native(const Event& event) const;
  FrameId python_frame(const PythonFrame& frame);

  const Session& session_;
  ProcessRecording& process_;
  const bool append_native_;
  std::unordered_set<uint32_t> native_stacks_;           // those whose frames need names
  std::unordered_map<uint64_t, FrameId> python_frames_;  // by code and instruction
  std::unordered_map<NativeFrame, FrameId, NativeFrameHash> native_frames_;
  std::unordered_map<uint64_t, StackId> stacks_;  // by both of an event's ids
  std::vector<FrameId> frames_;
};

}  // namespace vramscope
