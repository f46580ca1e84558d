// Python and native stacks of the calling thread, as ids.
#pragma once

#include <cstdint>
#include <memory>

#include "recorder/definition_sink.h"
#include "recorder/stacks/unwind_check.h"

namespace vramscope {

// The registers of the frame that called the hook, taken in the hook itself: the walk starts there,
// so that no frame of ours is ever in a stack.
struct CallSite {
  uintptr_t program_counter;  // return address of the hook
  uintptr_t stack_pointer;    // after the return
  uintptr_t frame_pointer;    // the caller's rbp / x29
};

// The stacks of one thread. Owned by the thread that it describes; only that thread calls it. Never
// takes the GIL or a lock that another thread may hold for long; allocates only for stacks, code
// objects and modules that it has not seen before.
class StackCapture {
 public:
  virtual ~StackCapture() = default;

  // The id of the thread's Python stack; 0 if there is none (no interpreter, no Python frame, not
  // supported).
  virtual uint32_t python(DefinitionSink& sink) = 0;

  // The id of the native stack that begins at `site`; 0 if it could not be walked.
  virtual uint32_t native(const CallSite& site, DefinitionSink& sink) = 0;

  // Right after native() gave `id` for this site: compares that stack with _Unwind_Backtrace's and
  // counts the outcome.
  virtual void check_native(const CallSite& site, uint32_t id, UnwindCheck& check) = 0;
};

// One for the calling thread. Never fails: nullptr only when memory is exhausted.
std::unique_ptr<StackCapture> make_stack_capture();

// The child of a fork calls this before it records: ids, caches and defined-marks of the parent are
// void.
void forget_stacks_after_fork();

}  // namespace vramscope
