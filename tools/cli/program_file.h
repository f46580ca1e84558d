// Which file a command runs, and whether a library can be preloaded into it.
#pragma once

#include <string>

namespace vramscope {

struct ProgramFile {
  std::string path;       // empty: not found
  int error = 0;          // errno of why it cannot be executed: ENOENT, EACCES...; 0: it can
  std::string complaint;  // why LD_PRELOAD has no effect on it; empty: it has
};

// As a shell finds `command`: by PATH unless it contains a slash. Of a script the interpreter is
// looked at.
ProgramFile find_program(const std::string& command);

}  // namespace vramscope
