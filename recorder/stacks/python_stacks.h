// Ids for the Python stacks of one thread.
//
//   traces_: walked before? --yes--> its code objects still the same? --yes--> id
//     `--no--> walk -> frame keys -> table_: known? --yes--> its code objects still the same? -> id
//                                       `--no--> define codes and stack -> id
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/definition_sink.h"
#include "recorder/stacks/python_codes.h"
#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/python_runtime.h"
#include "recorder/stacks/python_trace_cache.h"
#include "recorder/stacks/stack_table.h"

namespace vramscope {

// Belongs to one thread. May throw std::bad_alloc for a stack that it has not seen before.
class PythonStacks {
 public:
  uint32_t capture(DefinitionSink& sink);
  void forget() {
    traces_.clear();
    table_.clear();
  }

 private:
  uint32_t capture_by_walking(const PythonRuntime& runtime, const void* thread_state,
                              const void* innermost, DefinitionSink& sink);
  StackTable::Stack* intern(const PythonRuntime& runtime, const void* thread_state,
                            std::span<const PythonFrameKey> keys, bool truncated,
                            DefinitionSink& sink);
  uint32_t define(const PythonLayout& layout, std::span<const PythonFrameKey> keys, bool truncated,
                  DefinitionSink& sink);
  bool is_current(StackTable::Stack& stack) const;

  // Deeper stacks are walked each time.
  static constexpr size_t kMaxStates = 512;

  PythonTraceCache traces_;
  StackTable table_;  // every stack of traces_ is in it, or has been erased and is never current
  // Notes of a stack: how many code objects had died when it was last found right, then one
  // PythonCode and its id per frame.
  std::vector<uint64_t> notes_;
  std::vector<PythonFrame> frames_;
  // Not initialised: most of these are never touched.
  PythonFrameKey keys_[kMaxPythonFrames];
  PythonFrameState states_[kMaxStates];
};

}  // namespace vramscope
