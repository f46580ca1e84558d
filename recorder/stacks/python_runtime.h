// The CPython that lives in this process, if there is one that can be read.
#pragma once

#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/python_layout.h"

namespace vramscope {

class PythonRuntime {
 public:
  // nullptr: none in the process (or loaded RTLD_LOCAL, where its symbols cannot be found), or
  // switched off. Looks for one at the first calls and now and then after, for
  // programs that load Python late; the loader's lock is taken only then. Any thread.
  static const PythonRuntime* find();

  const PythonLayout& layout() const { return layout_; }

  // The calling thread's PyThreadState; nullptr: the thread never ran Python, or the interpreter is
  // shutting down and may free the states of other threads. No GIL needed.
  const void* thread_state() const;

  // Trust, but verify: until a first thread that holds the GIL was seen to agree, what the walk
  // found is checked against the types that it should have and against PyEval_GetGlobals(). That
  // call has no side effects; PyEval_GetFrame() would allocate a frame object, and so might run the
  // garbage collector inside a hook. False: Python stacks are off from now on, a warning was
  // written.
  bool verify(const void* thread_state, std::span<const PythonFrameKey> frames) const;

 private:
  friend struct PythonRuntimeFinder;

  PythonLayout layout_{};
  const void* code_type_ = nullptr;
  const void* bytes_type_ = nullptr;
  int (*is_finalizing_)() = nullptr;
  const void* (*globals_)() = nullptr;
  const void* (*state_of_thread_)() = nullptr;
  // The state that holds the GIL; from 3.12 on nullptr unless it is the calling thread's.
  const void* (*attached_state_)() = nullptr;
};

}  // namespace vramscope
