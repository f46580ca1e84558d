// What a command reads: RUN, or --pid PID for the session of a process that still runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace vramscope {

struct RunChoice {
  std::string run;
  std::optional<uint32_t> pid;
};

// Adds both options to `app`; `choice` outlives it.
void add_run_choice(CLI::App& app, RunChoice& choice);

// The path of what was chosen. Throws UserError if not exactly one of the two was given, or the
// process is not recorded.
std::string path_of(const RunChoice& choice);

// The ring file that process `pid` has mapped: its session goes on there. Throws UserError.
std::string ring_file_of_process(uint32_t pid);

}  // namespace vramscope
