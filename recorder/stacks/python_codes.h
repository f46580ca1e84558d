// The code objects that stacks refer to, for the whole process: address -> id, as long as each
// lives.
//
// CPython gives the address of a dead code object to a new one, within microseconds in code that
// calls exec(). So every death is seen (PyCode_Type.tp_dealloc, see python_runtime.cpp) and takes
// the id away from its address; ids are never used twice.
//
//   buckets[hash(address)] -> KnownPythonCode -> KnownPythonCode -> ...
//
// Chains only grow at their head, and the entry of an address stays when its code object dies: so
// no lock is taken, and a signal handler may come here whatever it has interrupted, the end of a
// code object included. As addresses come back, there are about as many entries as there ever were
// code objects at once.
// A code object cannot die while a frame of the calling thread runs it, so what a walk has found is
// alive until the hook returns.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/definition_sink.h"
#include "recorder/stacks/python_layout.h"

namespace vramscope {

// Immortal. Of whatever code object is at `address`, one after the other: compare `id` to see that
// it is still the same.
struct KnownPythonCode {
  std::atomic<uint32_t> id{0};          // 0: dead
  std::atomic<bool> is_defined{false};  // a kPythonCode record of the id is in some thread's stream
  const void* address = nullptr;
  KnownPythonCode* next = nullptr;  // in its bucket
};

// The entry of a living code object, made at its first use. Any thread whose frames keep `address`
// alive. nullptr: no memory.
KnownPythonCode* find_or_add_python_code(const void* address);

// Sees to it that the id is defined; false if there is no room in the ring now. Two threads may
// both write the definition, with the same content.
bool define_python_code(KnownPythonCode& code, const PythonLayout& layout, DefinitionSink& sink);

// The code object at `address` is about to be freed. GIL held.
void bury_python_code(const void* address);

// How many known code objects have died. As long as it stands still, every id is still right.
inline constinit std::atomic<uint64_t> python_code_deaths{0};

// The child of a fork: no id is defined any more.
void forget_python_codes_after_fork();

}  // namespace vramscope
