// Ids for the Python stacks of one thread.
//
//   traces_: walked before? --yes--> its code objects still the same? --yes--> id
//     `--no--> walk -> frame keys -> table_: known? --yes--> its code objects still the same? -> id
//                                       `--no--> define codes and stack -> id
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recorder/definition_sink.h"
#include "recorder/stacks/interned_stacks.h"
#include "recorder/stacks/python_codes.h"
#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/python_runtime.h"
#include "recorder/stacks/python_trace_cache.h"

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
  [[gnu::noinline]] uint32_t capture_by_walking(const PythonRuntime& runtime,
                                                const void* thread_state, const void* innermost,
                                                DefinitionSink& sink);
  InternedStacks::Stack* intern(const PythonRuntime& runtime, const void* thread_state,
                                std::span<const PythonFrameKey> keys, bool truncated,
                                DefinitionSink& sink);
  uint32_t define(const PythonLayout& layout, std::span<const PythonFrameKey> keys, bool truncated,
                  DefinitionSink& sink);
  bool is_current(PythonTraceCache::Trace& trace) const;
  bool is_current(InternedStacks::Stack& stack) const;

  // Deeper stacks are walked each time.
  static constexpr size_t kMaxStates = 512;

  PythonTraceCache traces_;
  InternedStacks
      table_;  // every stack of traces_ is in it, or has been erased and is never current
  // Notes of a stack: how many code objects had died when it was last found right, then one
  // KnownPythonCode and its id per frame.
  std::vector<uint64_t> notes_;
  std::vector<PythonFrame> frames_;
  // Apart from what every capture needs, and not initialised: most of it is never touched.
  struct Walked {
    PythonFrameKey keys[kMaxPythonFrames];
    PythonFrameState states[kMaxStates];
  };
  const std::unique_ptr<Walked> walked_{new Walked};
};

}  // namespace vramscope
