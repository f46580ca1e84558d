#include <CLI/CLI.hpp>

#include "tools/cli/command.h"
#include "tools/model/user_error.h"

namespace vramscope {

RunCommand define_snapshot_command(CLI::App&) {
  return []() -> int { throw UserError("snapshot: not there yet"); };
}

}  // namespace vramscope
