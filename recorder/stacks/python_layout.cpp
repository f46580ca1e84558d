#include "recorder/stacks/python_layout.h"

#include <cstring>

namespace vramscope {
namespace {

constexpr PythonLayout kLayouts[] = {
#include "recorder/stacks/python_layout_table.inc"
};

constexpr bool covers_all_versions() {
  unsigned minor = kFirstPythonMinor;
  for (const PythonLayout& layout : kLayouts) {
    if (layout.minor != minor++) return false;
  }
  return minor == kLastPythonMinor + 1;
}
static_assert(covers_all_versions());

// Where a published offset stands: 64-bit words from the start of _Py_DebugOffsets, in the order of
// its members (CPython's Include/internal/pycore_runtime.h of 3.13, pycore_debug_offsets.h of
// 3.14). 3.14 inserted members, so each version has its own places.
struct PublishedPlaces {
  unsigned thread_current_frame;
  unsigned frame_previous, frame_executable, frame_instruction, frame_owner;
  unsigned code_filename, code_name, code_qualified_name, code_line_table, code_first_line,
      code_bytecode;
};
constexpr unsigned kVersionPlace = 1;
constexpr unsigned kFreeThreadedPlace = 2;
constexpr PublishedPlaces kPlaces313 = {23, 29, 30, 31, 33, 35, 36, 37, 38, 39, 43};
constexpr PublishedPlaces kPlaces314 = {26, 32, 33, 34, 36, 40, 41, 42, 43, 44, 48};

}  // namespace

const PythonLayout* find_python_layout(unsigned minor) {
  if (minor < kFirstPythonMinor || minor > kLastPythonMinor) return nullptr;
  return &kLayouts[minor - kFirstPythonMinor];
}

DebugOffsetsError apply_debug_offsets(const std::byte* runtime, PythonLayout& layout) {
  constexpr char kCookie[] = "xdebugpy";
  if (runtime == nullptr || std::memcmp(runtime, kCookie, sizeof kCookie - 1) != 0) {
    return DebugOffsetsError::kUnreadable;
  }
  const auto word = [&](unsigned place) {
    uint64_t value;
    std::memcpy(&value, runtime + place * sizeof value, sizeof value);
    return value;
  };
  if (word(kFreeThreadedPlace) != 0) return DebugOffsetsError::kFreeThreaded;
  if ((word(kVersionPlace) >> 16) != (0x300u | layout.minor)) return DebugOffsetsError::kUnreadable;

  const PublishedPlaces& places = layout.minor == 13 ? kPlaces313 : kPlaces314;
  PythonLayout published = layout;
  const struct {
    unsigned place;
    uint16_t PythonLayout::*field;
  } kTaken[] = {
      {places.thread_current_frame, &PythonLayout::thread_frame},
      {places.frame_previous, &PythonLayout::frame_previous},
      {places.frame_executable, &PythonLayout::frame_code},
      {places.frame_instruction, &PythonLayout::frame_position},
      {places.frame_owner, &PythonLayout::frame_owner},
      {places.code_filename, &PythonLayout::code_filename},
      {places.code_name, &PythonLayout::code_name},
      {places.code_qualified_name, &PythonLayout::code_qualified_name},
      {places.code_line_table, &PythonLayout::code_line_table},
      {places.code_first_line, &PythonLayout::code_first_line},
      {places.code_bytecode, &PythonLayout::code_bytecode},
  };
  for (const auto& [place, field] : kTaken) {
    const uint64_t value = word(place);
    if (value >= kAbsent) return DebugOffsetsError::kUnreadable;
    published.*field = static_cast<uint16_t>(value);
  }
  // Not published: it keeps its distance from the bytecode, which ends the structure.
  published.code_first_traceable = static_cast<uint16_t>(
      published.code_bytecode - (layout.code_bytecode - layout.code_first_traceable));
  layout = published;
  return DebugOffsetsError::kNone;
}

}  // namespace vramscope
