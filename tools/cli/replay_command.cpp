// `vramscope replay RUN`: what PyTorch's allocator would have done with other settings, or on
// another card.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/analysis/allocator/replay_report.h"
#include "tools/cli/command.h"
#include "tools/cli/process_choice.h"
#include "tools/cli/replay_json.h"
#include "tools/cli/replay_text.h"
#include "tools/cli/run_choice.h"
#include "tools/cli/text.h"
#include "tools/formats/recording_file.h"
#include "tools/model/user_error.h"
#include "tools/simgpu/core/size_text.h"

namespace vramscope {
namespace {

struct ReplayCommandOptions {
  RunChoice choice;
  ReplayQuestion question;
  std::string process;
  std::optional<int> device;
  std::string capacity;
  bool json = false;
};

void read_capacity(ReplayCommandOptions& options) {
  if (options.capacity.empty()) return;
  options.question.capacity_bytes = simgpu::parse_size(options.capacity);
  if (options.question.capacity_bytes.value_or(0) == 0)
    throw UserError("--capacity " + options.capacity + ": not a size (example: 24GiB)");
}

std::vector<DeviceReplay> replay_all(const Recording& recording, const std::string& run,
                                     const ReplayCommandOptions& options) {
  std::vector<DeviceReplay> replays;
  for (const ProcessRecording* process : choose_processes(recording, options.process, run))
    for (const DeviceTrace& trace : process->devices)
      if (options.device.value_or(trace.device) == trace.device && can_be_replayed(trace))
        replays.push_back(replay_device(*process, trace, options.question));
  if (replays.empty())
    throw UserError(run + ": has no allocations to replay" +
                    (options.device ? " on GPU " + std::to_string(*options.device) : ""));
  return replays;
}

int print_replay(ReplayCommandOptions& options) {
  read_capacity(options);
  for (const std::string& settings : options.question.settings) parse_allocator_settings(settings);
  const std::string run = path_of(options.choice);
  const Recording recording = open_recording(run, {});
  warn_of_unreadable(recording.unreadable);
  const std::vector<DeviceReplay> replays = replay_all(recording, run, options);
  std::cout << (options.json ? replay_json(replays)
                             : replay_text(replays, options.question.empty_cache_every))
            << std::flush;
  if (!std::cout) throw UserError("standard output: cannot be written");
  return 0;
}

}  // namespace

RunCommand define_replay_command(CLI::App& app) {
  const auto options = std::make_shared<ReplayCommandOptions>();
  ReplayQuestion& question = options->question;
  add_run_choice(app, options->choice);
  app.add_option("--settings", question.settings,
                 "as in PYTORCH_ALLOC_CONF; may be given several times")
      ->allow_extra_args(false);
  app.add_flag("--what-if", question.what_if, "a table of all sensible settings, best first");
  app.add_option("--capacity", options->capacity,
                 "what the job can have of the card, its context left out (24GiB)")
      ->type_name("SIZE");
  app.add_option("--empty-cache-every", question.empty_cache_every,
                 "torch.cuda.empty_cache() after every N optimizer steps")
      ->type_name("N");
  app.add_option("--recorded-settings", question.recorded_settings,
                 "those of the recorded job, where the recording does not have them");
  app.add_option("--device", options->device, "only this GPU");
  app.add_option("--process", options->process, "only this process: a pid, or rankN");
  app.add_flag("--json", options->json, "for programs: the same figures as JSON, in bytes");
  return [options] { return print_replay(*options); };
}

}  // namespace vramscope
