#include <CLI/CLI.hpp>

#include "tools/cli/command.h"
#include "tools/model/user_error.h"

namespace vramscope {

RunCommand define_report_command(CLI::App&) {
  return []() -> int { throw UserError("report: not there yet"); };
}

}  // namespace vramscope
