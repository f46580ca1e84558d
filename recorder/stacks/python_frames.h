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

// What must stand in a frame (3.11 and later) so that a walk finds what it found before. The code
// object needs no comparison: while it lives, no other one has this instruction.
struct PythonFrameState {
  uint64_t previous;            // address of the next frame of the walk
  uint64_t position_and_owner;  // addresses end below bit 56 (kOwnerShift): the owner is above it
};

constexpr unsigned kOwnerShift = 56;

inline PythonFrameState read_frame_state(const PythonLayout& layout, const void* frame) {
  return {load_field<uint64_t>(frame, layout.frame_previous),
          load_field<uint64_t>(frame, layout.frame_position) |
              static_cast<uint64_t>(load_field<uint8_t>(frame, layout.frame_owner)) << kOwnerShift};
}

// Whether a walk from `frame` on would read these states, to the end of the chain.
inline bool frames_are_unchanged(const PythonLayout& layout, const void* frame,
                                 std::span<const PythonFrameState> states) {
  for (const PythonFrameState& state : states) {
    const PythonFrameState now = read_frame_state(layout, frame);
    if (((now.previous ^ state.previous) | (now.position_and_owner ^ state.position_and_owner)) !=
        0) {
      return false;
    }
    frame = reinterpret_cast<const void*>(state.previous);
  }
  return true;
}

// PythonFrame::instruction of a frame that has not begun its first instruction (f_lasti == -1).
constexpr uint32_t kBeforeFirstInstruction = UINT32_MAX;

struct PythonWalk {
  size_t count = 0;
  bool truncated = false;
  size_t state_count = 0;  // 0: the states did not fit, or this version has none
};

// The frame that the thread is in; nullptr: none. `thread_state`: its PyThreadState.
const void* innermost_python_frame(const PythonLayout& layout, const void* thread_state);

// Innermost frame first. Frames of the interpreter itself (its entry from C) are left out of
// `frames`, not of `states`.
PythonWalk walk_python_frames(const PythonLayout& layout, const void* innermost,
                              std::span<PythonFrameKey> frames,
                              std::span<PythonFrameState> states = {});

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
