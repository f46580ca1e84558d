// A subcommand of `vramscope`: one file, and one row in main.cpp's table.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace vramscope {

// Runs a command whose options were parsed; returns the exit status of `vramscope`. Throws
// UserError (tools/model/user_error.h) for what the user must mend: main prints the one line and
// ends with status 2. Anything printed on stdout is the command's result, nothing else.
using RunCommand = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;  // one line of `vramscope --help`
  // Adds the command's options to its own `app`, which outlives the returned function. The options'
  // values live in the function (a shared_ptr that its lambda captures), so that no command has
  // global state.
  RunCommand (*define)(CLI::App& app);
};

RunCommand define_run_command(CLI::App& app);       // run_command.cpp
RunCommand define_report_command(CLI::App& app);    // report_command.cpp
RunCommand define_summary_command(CLI::App& app);   // summary_command.cpp
RunCommand define_snapshot_command(CLI::App& app);  // snapshot_command.cpp
RunCommand define_dump_command(CLI::App& app);      // dump_command.cpp
RunCommand define_recover_command(CLI::App& app);   // recover_command.cpp
RunCommand define_replay_command(CLI::App& app);    // replay_command.cpp

}  // namespace vramscope
