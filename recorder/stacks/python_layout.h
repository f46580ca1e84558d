// Where CPython keeps what a stack walk reads: byte offsets, so that no Python header is needed and
// one library serves every interpreter.
//
//   thread state --thread_frame--> [cframe --cframe_frame-->] frame --frame_previous--> frame ...
//                                                             |
//                                                             +--frame_code--> code object
//
// Source: CPython's headers, read by generate_python_layouts.py; from 3.13 on the interpreter
// itself publishes most of them (_Py_DebugOffsets), and what it says wins.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope {

// A field that this version does not have.
constexpr uint16_t kAbsent = 0xffff;

struct PythonLayout {
  uint16_t minor;  // 3.minor

  uint16_t thread_frame;  // 3.9, 3.10: innermost frame object; 3.11, 3.12: the cframe; later: frame
  uint16_t cframe_frame;
  uint16_t frame_code;  // 3.14: the low bits are a tag
  uint16_t frame_previous;
  // 3.9: int, bytes into co_code; 3.10: int, code units of 2 bytes; 3.11, 3.12: pointer to the code
  // unit before the next instruction; later: pointer to the current instruction.
  uint16_t frame_position;
  uint16_t frame_owner;  // one byte, see python_frames.cpp
  uint16_t frame_globals;

  uint16_t code_name;
  uint16_t code_qualified_name;
  uint16_t code_filename;
  uint16_t code_line_table;       // bytes object: co_lnotab (3.9), co_linetable
  uint16_t code_first_line;       // int
  uint16_t code_first_traceable;  // int, code units: before it a frame is not yet set up
  uint16_t code_bytecode;         // the instructions, in the code object itself

  uint16_t object_type;
  uint16_t variable_size;  // ob_size
  uint16_t type_dealloc;
  uint16_t bytes_data;
  uint16_t string_length;
  uint16_t string_state;  // 32-bit word of bit-fields, the three shifts below are inside it
  uint16_t string_kind_shift;
  uint16_t string_compact_bit;
  uint16_t string_ascii_bit;
  uint16_t string_ascii_data;    // characters of a compact ASCII string
  uint16_t string_compact_data;  // characters of any other compact string
};

constexpr unsigned kFirstPythonMinor = 9;
constexpr unsigned kLastPythonMinor = 14;

// The layout of release builds of CPython 3.`minor`; nullptr if this version is not known.
const PythonLayout* find_python_layout(unsigned minor);

enum class DebugOffsetsError { kNone, kUnreadable, kFreeThreaded };

// 3.13 and later: takes over what the interpreter publishes at `runtime` (the symbol _PyRuntime).
// Leaves `layout` as it is on an error.
DebugOffsetsError apply_debug_offsets(const std::byte* runtime, PythonLayout& layout);

// Reads a field of one of CPython's structures.
template <typename Value>
Value load_field(const void* structure, uint16_t offset) {
  return *reinterpret_cast<const Value*>(static_cast<const std::byte*>(structure) + offset);
}

}  // namespace vramscope
