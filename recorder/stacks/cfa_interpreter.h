// Runs the call frame instructions of a function (DWARF 5, section 6.4) and keeps what a walk
// needs: where the CFA is and where rbp was saved.
#pragma once

#include <cstdint>

#include "recorder/stacks/frame_description.h"
#include "recorder/stacks/unwind_rule.h"

namespace vramscope {

// The rule at `address`, an instruction of the function that begins at `function`; for a return
// address it is the byte before. Whatever cannot be said in an UnwindRule gives kUnsupported.
UnwindRule unwind_rule_at(const FrameDescription& description, uint64_t function, uint64_t address);

}  // namespace vramscope
