#include "recorder/stacks/python_frames.h"

#include <algorithm>

#include "recorder/stacks/python_strings.h"

namespace vramscope {
namespace {

// Instructions are 2-byte aligned: bit 0 of their address is free. A generator's frame is complete
// wherever it stands, any other one only from its first traceable instruction on, so the same
// instruction can mean two things.
constexpr uint64_t kOfGenerator = 1;
constexpr uint64_t kCodeUnitBytes = 2;

// enum _frameowner (pycore_frame.h, 3.14: pycore_interpframe_structs.h): 0 thread, 1 generator,
// 2 frame object; from 3 on the interpreter's own frames (3.12, 3.13: C stack; 3.14: interpreter,
// C stack), which carry no code of the program.
constexpr uint8_t kOwnedByGenerator = 1;
constexpr uint8_t kFirstForeignOwner = 3;

// Reference tags of 3.14 (pycore_stackref.h); before it objects are aligned anyway.
constexpr uint64_t kReferenceTag = 7;

const void* previous_frame(const PythonLayout& layout, const void* frame) {
  return load_field<const void*>(frame, layout.frame_previous);
}

bool has_foreign_owner(const PythonLayout& layout, const void* frame) {
  return layout.frame_owner != kAbsent &&
         load_field<uint8_t>(frame, layout.frame_owner) >= kFirstForeignOwner;
}

bool has_states(const PythonLayout& layout) { return layout.frame_owner != kAbsent; }

PythonFrameKey read_frame(const PythonLayout& layout, const void* frame) {
  PythonFrameKey key;
  key.code = load_field<uint64_t>(frame, layout.frame_code) & ~kReferenceTag;
  if (!has_states(layout)) {
    key.position = load_field<uint32_t>(frame, layout.frame_position);
  } else {
    const bool of_generator = load_field<uint8_t>(frame, layout.frame_owner) == kOwnedByGenerator;
    key.position =
        load_field<uint64_t>(frame, layout.frame_position) | (of_generator ? kOfGenerator : 0);
  }
  return key;
}

const void* code_object(const PythonFrameKey& frame) {
  return reinterpret_cast<const void*>(frame.code);
}

bool is_plausible(const PythonLayout& layout, const PythonFrameKey& frame, const void* code_type,
                  const void* bytes_type) {
  const void* code = code_object(frame);
  if (code == nullptr || load_field<const void*>(code, layout.object_type) != code_type) {
    return false;
  }
  if (is_incomplete(layout, frame)) return true;  // the interpreter's own code has no names
  for (const uint16_t field :
       {layout.code_name, layout.code_filename, layout.code_qualified_name}) {
    if (field == kAbsent) continue;
    const void* text = load_field<const void*>(code, field);
    if (text == nullptr || !looks_like_python_string(layout, text)) return false;
  }
  const void* lines = load_field<const void*>(code, layout.code_line_table);
  if (lines == nullptr || load_field<const void*>(lines, layout.object_type) != bytes_type) {
    return false;
  }
  if (layout.code_bytecode == kAbsent) return true;
  const uint32_t offset = instruction_offset(layout, frame);
  const auto units = load_field<int64_t>(code, layout.variable_size);
  return offset == kBeforeFirstInstruction ||
         offset < static_cast<uint64_t>(units) * kCodeUnitBytes;
}

}  // namespace

const void* innermost_python_frame(const PythonLayout& layout, const void* thread_state) {
  const void* frame = load_field<const void*>(thread_state, layout.thread_frame);
  if (layout.cframe_frame == kAbsent || frame == nullptr) return frame;
  return load_field<const void*>(frame, layout.cframe_frame);
}

PythonWalk walk_python_frames(const PythonLayout& layout, const void* innermost,
                              std::span<PythonFrameKey> frames,
                              std::span<PythonFrameState> states) {
  PythonWalk walk;
  if (!has_states(layout)) states = {};
  size_t visited = 0;
  for (const void* frame = innermost; frame != nullptr; frame = previous_frame(layout, frame)) {
    if (visited < states.size()) states[visited] = read_frame_state(layout, frame);
    ++visited;
    if (has_foreign_owner(layout, frame)) continue;
    if (walk.count == frames.size()) {
      walk.truncated = true;
      return walk;
    }
    frames[walk.count++] = read_frame(layout, frame);
  }
  if (visited <= states.size()) walk.state_count = visited;
  return walk;
}

bool is_incomplete(const PythonLayout& layout, const PythonFrameKey& frame) {
  if (layout.code_first_traceable == kAbsent || (frame.position & kOfGenerator) != 0) return false;
  const auto first_traceable = load_field<int32_t>(code_object(frame), layout.code_first_traceable);
  return frame.position < frame.code + layout.code_bytecode + first_traceable * kCodeUnitBytes;
}

uint32_t instruction_offset(const PythonLayout& layout, const PythonFrameKey& frame) {
  if (layout.code_bytecode != kAbsent) {
    const uint64_t instruction = frame.position & ~kOfGenerator;
    const uint64_t first = frame.code + layout.code_bytecode;
    return instruction < first ? kBeforeFirstInstruction
                               : static_cast<uint32_t>(instruction - first);
  }
  const auto last_instruction = static_cast<int32_t>(frame.position);
  if (last_instruction < 0) return kBeforeFirstInstruction;
  constexpr unsigned kFirstMinorThatCountsUnits = 10;
  const uint32_t unit = layout.minor >= kFirstMinorThatCountsUnits ? kCodeUnitBytes : 1;
  return static_cast<uint32_t>(last_instruction) * unit;
}

bool frames_are_plausible(const PythonLayout& layout, std::span<const PythonFrameKey> frames,
                          const void* code_type, const void* bytes_type) {
  return std::ranges::all_of(frames, [&](const PythonFrameKey& frame) {
    return is_plausible(layout, frame, code_type, bytes_type);
  });
}

const void* innermost_globals(const PythonLayout& layout, const void* thread_state) {
  const void* frame = innermost_python_frame(layout, thread_state);
  while (frame != nullptr &&
         (has_foreign_owner(layout, frame) || is_incomplete(layout, read_frame(layout, frame)))) {
    frame = previous_frame(layout, frame);
  }
  return frame == nullptr ? nullptr : load_field<const void*>(frame, layout.frame_globals);
}

}  // namespace vramscope
