// `vramscope report RUN`: what filled the GPU, when and from which line.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/analysis/report.h"
#include "tools/cli/command.h"
#include "tools/cli/process_choice.h"
#include "tools/cli/report_json.h"
#include "tools/cli/report_text.h"
#include "tools/cli/run_choice.h"
#include "tools/cli/text.h"
#include "tools/formats/recording_file.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

struct ReportOptions {
  RunChoice choice;
  std::string process;
  size_t top = 10;
  bool json = false;
  bool native = false;
};

int print_report(const ReportOptions& options) {
  const std::string run = path_of(options.choice);
  const Recording recording = open_recording(run, {.native_frames = options.native});
  warn_of_unreadable(recording.unreadable);
  std::vector<ProcessReport> reports;
  for (const ProcessRecording* process : choose_processes(recording, options.process, run))
    reports.push_back(report_process(*process));
  std::cout << (options.json ? report_json(reports, options.top)
                             : report_text(reports, options.top))
            << std::flush;
  if (!std::cout) throw UserError("standard output: cannot be written");
  return 0;
}

}  // namespace

RunCommand define_report_command(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  add_run_choice(app, options->choice);
  app.add_flag("--json", options->json, "for programs: the same figures as JSON, in bytes");
  app.add_option("--top", options->top, "stacks shown for each peak, 0 for all")
      ->capture_default_str();
  app.add_option("--process", options->process, "only this process: a pid, or rankN");
  app.add_flag("--native", options->native, "append native frames to Python stacks");
  return [options] { return print_report(*options); };
}

}  // namespace vramscope
