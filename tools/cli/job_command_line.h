// The job's command line behind `vramscope run [options] [--]`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vramscope {

// Makes `app`, a subcommand, stop at the first word that is none of its options, or at `--`:
// everything from there on belongs to the job, whatever it looks like.
void expect_job_command_line(CLI::App& app);

// After parsing: the job's words, unchanged. Throws UserError where an unknown option stands in
// front of them.
std::vector<std::string> job_command_line(const CLI::App& app);

}  // namespace vramscope
