// Line numbers of Python code objects, from the line table that was copied while they lived.
//
// Formats (python_minor): up to 3.9 co_lnotab (Objects/lnotab_notes.txt), 3.10 co_linetable by PEP
// 626 (the same notes), from 3.11 the location table (Objects/locations.md in CPython's source).
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope {

// What PyCode_Addr2Line answers: the line of the instruction at byte offset `instruction` of the
// code object; -1 if it has no line (compiler-made instructions) or the table ends before it. A
// frame that has not begun (instruction as int32_t is negative) is at `first_line`.
//
// Byte offsets: 3.9 f_lasti; 3.10 f_lasti * 2; from 3.11 bytes from the start of co_code_adaptive.
int32_t python_line(std::string_view line_table, uint16_t python_minor, int32_t first_line,
                    uint32_t instruction);

}  // namespace vramscope
