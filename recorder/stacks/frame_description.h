// What an entry of .eh_frame (an FDE and its CIE) says about one function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace vramscope {

struct FrameDescription {
  uint64_t code_alignment = 1;
  int64_t data_alignment = -8;
  // Instructions for cfa_interpreter: those of the CIE come first.
  std::span<const uint8_t> initial_instructions;
  std::span<const uint8_t> instructions;
  bool is_signal_frame = false;
};

// `fde`: the entry's length field, as _Unwind_Find_FDE returns it. nullopt: a form that compilers
// for this architecture do not write (64-bit lengths, LEB128 addresses, another return column).
//
// Layout: Linux Standard Base Core, "Exception Frames".
std::optional<FrameDescription> read_frame_description(const uint8_t* fde);

}  // namespace vramscope
