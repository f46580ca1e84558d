// `vramscope`: parses the command line, runs one subcommand, turns errors into one line and
// status 2.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "tools/cli/command.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

constexpr int kUsageStatus = 2;

constexpr Command kCommands[] = {
    {"run", "run a program and record its GPU memory", define_run_command},
    {"report", "what filled the GPU, when and from which line", define_report_command},
    {"summary", "what torch.cuda.memory_summary shows, at any moment", define_summary_command},
    {"snapshot", "write a snapshot for PyTorch's memory_viz", define_snapshot_command},
    {"dump", "print the recorded calls, one a line", define_dump_command},
    {"replay", "the same job with other allocator settings, or on another card",
     define_replay_command},
    {"recover", "complete the sessions that killed processes left", define_recover_command},
};

int fail(const std::string& line) {
  std::fprintf(stderr, "vramscope: %s\n", line.c_str());
  return kUsageStatus;
}

// CLI11's messages may have several lines; errors have one.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "vramscope records what a program allocates on the GPU and tells what filled it.\n"
      "RUN is a session file, a folder of session files (ranks), or a snapshot that PyTorch "
      "wrote."};
  app.name("vramscope");
  app.set_version_flag("--version", "vramscope " VRAMSCOPE_VERSION);
  app.require_subcommand(0, 1);

  const Command* chosen = nullptr;
  std::vector<RunCommand> runs;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    runs.push_back(command.define(*sub));
    sub->callback([&chosen, &command] { chosen = &command; });
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request, std::cout, std::cerr);
  } catch (const CLI::ParseError& error) {
    std::string scope = "vramscope";
    for (const CLI::App* sub : app.get_subcommands()) scope += " " + sub->get_name();
    return fail(one_line(error.what()) + "; see '" + scope + " --help'");
  }
  if (chosen == nullptr) return fail("no command; see 'vramscope --help'");
  return runs[static_cast<size_t>(chosen - kCommands)]();
}

}  // namespace
}  // namespace vramscope

int main(int argc, char** argv) {
  try {
    return vramscope::parse_and_run(argc, argv);
  } catch (const vramscope::UserError& error) {
    return vramscope::fail(error.what());
  } catch (const std::bad_alloc&) {
    return vramscope::fail("out of memory");
  } catch (const std::exception& error) {
    return vramscope::fail(vramscope::one_line(error.what()));
  }
}
