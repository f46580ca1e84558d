// How to get from a frame to its caller's frame on x86-64: what all of .eh_frame says about one
// return address, in 8 bytes.
//
//                 higher addresses
//   CFA --------> | caller's frame       |   CFA: rsp of the caller after the call has returned
//   CFA - 8       | return address       |
//   CFA + offset  | saved rbp, if saved  |
//   rsp --------> | locals               |
//
// The one place that names registers; another architecture needs another of these, with other
// numbers in cfa_interpreter.cpp.
#pragma once

#include <cstdint>

namespace vramscope {

// DWARF register numbers, System V ABI AMD64 supplement, figure 3.36.
enum class DwarfRegister : uint8_t { kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16 };

constexpr int64_t kReturnAddressOffset = -8;  // from the CFA; anything else is kUnsupported

struct UnwindRule {
  enum class Kind : uint8_t {
    kNone = 0,  // no rule: never the result of a lookup
    kCfaFromStackPointer,
    kCfaFromFramePointer,
    kCfaBehindFramePointer,  // the CFA is the word at rbp + cfa_offset (realigned stacks)
    kEnd,                    // the outermost frame
    kUnsupported,            // libgcc must walk this stack
  };
  enum class FramePointer : uint8_t {
    kUnchanged,
    kSavedAtCfa,           // at CFA + frame_pointer_offset
    kSavedAtFramePointer,  // at rbp + frame_pointer_offset
  };

  Kind kind = Kind::kNone;
  FramePointer frame_pointer = FramePointer::kUnchanged;
  int16_t frame_pointer_offset = 0;
  int32_t cfa_offset = 0;

  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == 8);

}  // namespace vramscope
