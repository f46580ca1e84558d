// The calling thread's Python frames, read out of the interpreter's structures without the GIL.
//
// That is safe because they are the thread's own: while it is inside our hook nobody else pushes,
// pops or frees its frames, and each frame keeps its code object alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/record.h"
#include "recorder/stacks/python_layout.h"

namespace vramscope {

// Deeper frames are not recorded. Python's own limit is 1,000 unless the program raises it.
constexpr size_t kMaxPythonFrames = 4096;

// One frame exactly as found: equal keys mean the same instruction of the same code object, as long
// as the code object lives.
struct PythonFrameKey {
  uint64_t code;      // address of the code object
  uint64_t position;  // 3.9, 3.10: f_lasti; later: address of the instruction | kOfGenerator
};
static_assert(sizeof(PythonFrameKey) == 16);

// PythonFrame::instruction of a frame that has not begun its first instruction (f_lasti == -1).
constexpr uint32_t kBeforeFirstInstruction = UINT32_MAX;

struct PythonWalk {
  size_t count = 0;
  bool truncated = false;
};

// Innermost frame first. Frames of the interpreter itself (its entry from C) are left out.
// `thread_state`: the calling thread's PyThreadState.
PythonWalk walk_python_frames(const PythonLayout& layout, const void* thread_state,
                              std::span<PythonFrameKey> frames);

// What Python itself hides (sys._getframe, tracebacks): a frame that is still being set up.
bool is_incomplete(const PythonLayout& layout, const PythonFrameKey& frame);

// Offset of the frame's current instruction, in bytes: frame.f_lasti as Python shows it in 3.10+.
uint32_t instruction_offset(const PythonLayout& layout, const PythonFrameKey& frame);

// Whether the walk found what the interpreter itself says: structures have the types that they
// should have, instructions lie in their code objects. `code_type`: &PyCode_Type, `bytes_type`:
// &PyBytes_Type.
bool frames_are_plausible(const PythonLayout& layout, std::span<const PythonFrameKey> frames,
                          const void* code_type, const void* bytes_type);

// f_globals of the innermost complete frame; nullptr if there is none.
const void* innermost_globals(const PythonLayout& layout, const void* thread_state);

}  // namespace vramscope
