#include "tools/cli/job_command_line.h"

#include <CLI/CLI.hpp>

#include "tools/model/user_error.h"

namespace vramscope {

void expect_job_command_line(CLI::App& app) {
  app.prefix_command();
  // CLI11 leaves what follows `--` to the parent, which must then neither refuse it nor take the
  // job's --help and --version for its own.
  app.preparse_callback([&app](size_t) {
    CLI::App* parent = app.get_parent();
    parent->allow_extras();
    parent->set_help_flag();
    parent->set_version_flag();
  });
}

std::vector<std::string> job_command_line(const CLI::App& app) {
  const std::vector<std::string> before_dashes = app.remaining();
  const std::vector<std::string> behind_dashes = app.get_parent()->remaining();
  if (!before_dashes.empty() && before_dashes.front().starts_with('-')) {
    throw UserError("run: unknown option " + before_dashes.front() +
                    "; see 'vramscope run --help'");
  }
  return before_dashes.empty() ? behind_dashes : before_dashes;
}

}  // namespace vramscope
