// The code objects that stacks refer to, for the whole process: address -> id, as long as each
// lives.
//
// CPython gives the address of a dead code object to a new one, within microseconds in code that
// calls exec(). So every death is seen (PyCode_Type.tp_dealloc, see python_runtime.cpp) and takes
// the id away from its address; ids are never used twice.
//
//   buckets[hash(address)] -> PythonCode -> PythonCode -> ...
//
// Lock order: one spin lock, a leaf, held for a walk along one short chain. The thread that buries
// a code object takes it while it holds the GIL; a hook takes it without wanting the GIL: no cycle.
// A code object cannot die while a frame of the calling thread runs it, so what a walk has found is
// alive until the hook returns.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/definition_sink.h"
#include "recorder/stacks/python_layout.h"

namespace vramscope {

// Immortal memory, reused for other code objects after a death: compare `id` to see that.
struct PythonCode {
  std::atomic<uint32_t> id{0};          // 0: dead
  std::atomic<bool> is_defined{false};  // a kPythonCode record of the id is in some thread's stream
  const void* address = nullptr;
  PythonCode* next = nullptr;  // in its bucket or in the list of unused ones
};

// The entry of a living code object, made at its first use. Any thread whose frames keep `address`
// alive. nullptr: no memory.
PythonCode* find_or_add_python_code(const void* address);

// Sees to it that the id is defined; false if there is no room in the ring now. Two threads may
// both write the definition, with the same content.
bool define_python_code(PythonCode& code, const PythonLayout& layout, DefinitionSink& sink);

// The code object at `address` is about to be freed. GIL held.
void bury_python_code(const void* address);

// How many known code objects have died. As long as it stands still, every id is still right.
inline constinit std::atomic<uint64_t> python_code_deaths{0};

// The child of a fork: no id is defined any more; the lock may have been held by a thread that is
// gone.
void forget_python_codes_after_fork();

}  // namespace vramscope
