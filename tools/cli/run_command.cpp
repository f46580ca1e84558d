// `vramscope run [options] -- COMMAND`: runs a program, records it and drains what it records.
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "recorder/configuration.h"
#include "recorder/folder_drainer.h"
#include "recorder/session_file.h"
#include "tools/cli/audit_text.h"
#include "tools/cli/command.h"
#include "tools/cli/job_command_line.h"
#include "tools/cli/job_environment.h"
#include "tools/cli/job_process.h"
#include "tools/cli/program_file.h"
#include "tools/cli/text.h"
#include "tools/cli/verdict_text.h"
#include "tools/model/user_error.h"
#include "tools/simgpu/core/configuration.h"
#include "tools/simgpu/core/gpu_choice.h"
#include "tools/simgpu/core/job_ledger.h"
#include "tools/simgpu/core/size_text.h"

namespace vramscope {
namespace {

constexpr int kNotFoundStatus = 127;
constexpr int kNotExecutableStatus = 126;

// How long processes that the job left behind are drained after its end.
constexpr uint64_t kPatience_us = 3'000'000;

struct RunOptions {
  std::optional<std::string> output;
  std::optional<std::string> stacks;
  std::optional<std::string> ring;
  std::optional<std::string> overflow;
  bool verify_unwind = false;
  bool simulates = false;
  SimulatedGpu simulated;
};

std::string quoted(const std::string& value) { return value.empty() ? "''" : value; }

void check_options(const RunOptions& options) {
  bool python = false;
  bool native = false;
  if (options.output && options.output->empty()) {
    throw UserError("-o: no folder given (example: -o runs/today)");
  }
  if (options.stacks && !parse_stacks(*options.stacks, python, native)) {
    throw UserError("--stacks " + quoted(*options.stacks) +
                    ": unknown; possible are python,native, python, native, none");
  }
  if (options.ring && !parse_ring_size(*options.ring)) {
    throw UserError("--ring " + quoted(*options.ring) +
                    ": not a power of two from 64KiB to 64MiB (example: 1MiB)");
  }
  if (options.overflow && !parse_overflow(*options.overflow)) {
    throw UserError("--overflow " + quoted(*options.overflow) +
                    ": unknown; possible are wait, flight-recorder");
  }
  const SimulatedGpu& simulated = options.simulated;
  if (!options.simulates) {
    if (simulated.lag.empty() && simulated.context.empty()) return;
    throw UserError("--simulate-lag and --simulate-context need --simulate GPU");
  }
  const simgpu::GpuChoiceResult choice = simgpu::parse_gpu_choice(simulated.gpu);
  if (!choice.choice) throw UserError("--simulate: " + choice.error);
  if (!simulated.lag.empty() && !simgpu::parse_lag(simulated.lag)) {
    throw UserError("--simulate-lag " + simulated.lag + ": not a number of driver calls up to " +
                    std::to_string(simgpu::kMaxLagCalls) + " (example: 100)");
  }
  if (simulated.context.empty()) return;
  const std::optional<uint64_t> context_bytes = simgpu::parse_size(simulated.context);
  if (!context_bytes || *context_bytes > choice.choice->profile.capacity_bytes) {
    throw UserError("--simulate-context " + simulated.context +
                    ": not a size within the GPU's memory (example: 500MiB)");
  }
}

std::string default_folder() {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  char name[64];
  strftime(name, sizeof(name), "vramscope-%Y%m%d-%H%M%S", &local);
  return name;
}

// Where the sessions go: made, and known to be writable, before the job starts.
class OutputFolder {
 public:
  explicit OutputFolder(std::string shown) : shown_(std::move(shown)) {
    std::error_code error;
    created_ = std::filesystem::create_directories(shown_, error);
    if (error) fail("cannot be made", error.message());
    path_ = std::filesystem::canonical(shown_, error).string();
    if (error) fail("cannot be used", error.message());
    std::string probe = path_ + "/.vramscope-XXXXXX";
    const int fd = mkstemp(probe.data());
    if (fd < 0) fail("cannot be written to", std::strerror(errno));
    close(fd);
    unlink(probe.c_str());
    before_ = session_files();
  }

  // Session files that were not there before the job.
  std::vector<std::string> new_sessions() const {
    std::vector<std::string> added;
    std::ranges::set_difference(session_files(), before_, std::back_inserter(added));
    return added;
  }

  void remove_if_unused() const {
    if (created_) rmdir(path_.c_str());
  }

  const std::string& path() const { return path_; }
  const std::string& shown() const { return shown_; }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& why) const {
    throw UserError(shown_ + ": " + what + ": " + why + "; choose another folder with -o");
  }

  std::set<std::string> session_files() const {
    std::set<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
      if (entry.path().extension() == kSessionFileSuffix) files.insert(entry.path().string());
    }
    return files;
  }

  const std::string shown_;
  std::set<std::string> before_;
  std::string path_;
  bool created_ = false;
};

// A literal path in a pattern.
std::string without_placeholders(const std::string& path) {
  std::string pattern;
  for (const char c : path) pattern.append(c == '%' ? 2 : 1, c);
  return pattern;
}

std::string session_pattern(const OutputFolder& folder) {
  return without_placeholders(folder.path()) + (detect_rank(environ) ? "/rank%r-%p" : "/%h-%p");
}

// As the preloaded library reads it.
bool audits_by_cupti() {
  const char* value = getenv("VRAMSCOPE_CUPTI");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

bool wants_verdict() {
  const char* value = getenv("VRAMSCOPE_OOM");
  return value == nullptr || std::strcmp(value, "off") != 0;
}

// After the job's own message, each line named as ours.
void print_verdict(const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    std::fprintf(stderr, "vramscope: %s\n", text.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
}

void print_summary(const FolderDrainer& drainer, const OutputFolder& folder) {
  const FolderDrainer::Totals totals = drainer.totals();
  const std::string& shown = folder.shown();
  for (const uint32_t pid : drainer.living_pids()) {
    std::fprintf(stderr,
                 "vramscope: process %u still runs, and goes on by itself; see 'vramscope report "
                 "--pid %u'\n",
                 pid, pid);
  }
  for (const std::string& path : drainer.unwritten()) {
    std::fprintf(
        stderr,
        "vramscope: %s: holds what could not be written; make room, then 'vramscope recover "
        "%s'\n",
        path.c_str(), shown.c_str());
  }
  if (access(folder.path().c_str(), F_OK) != 0) {
    std::fprintf(stderr, "vramscope: %s was deleted while the job ran: nothing is left to report\n",
                 shown.c_str());
    return;
  }
  if (totals.processes == 0 && folder.new_sessions().empty()) {
    std::fprintf(stderr, "vramscope: no CUDA memory call was recorded\n");
    return folder.remove_if_unused();
  }
  std::string lost;
  if (totals.lost_events != 0) lost = " (" + with_commas(totals.lost_events) + " more were lost)";
  if (totals.overwritten_events != 0) {
    lost += " (" + with_commas(totals.overwritten_events) + " older ones were overwritten)";
  }
  if (totals.processes == 0) {
    std::fprintf(stderr, "vramscope: %s in %s, by the processes themselves\n",
                 plural(folder.new_sessions().size(), "session").c_str(), shown.c_str());
  } else {
    std::fprintf(stderr, "vramscope: %s events of %s in %s%s\n", with_commas(totals.events).c_str(),
                 plural(totals.processes, "process", "processes").c_str(), shown.c_str(),
                 lost.c_str());
  }
  if (totals.unwinds_compared != 0 || totals.unwinds_by_libgcc != 0) {
    std::fprintf(stderr,
                 "vramscope: %s native stacks compared with _Unwind_Backtrace, %s differ; %s were "
                 "walked by it\n",
                 with_commas(totals.unwinds_compared).c_str(),
                 with_commas(totals.unwinds_different).c_str(),
                 with_commas(totals.unwinds_by_libgcc).c_str());
  }
  if (audits_by_cupti()) {
    std::fprintf(stderr, "vramscope: %s\n", audit_text_of_sessions(folder.new_sessions()).c_str());
  }
  constexpr size_t kColumns = kTextColumns - std::string_view("vramscope: ").size();
  if (totals.shortages != 0 && wants_verdict())
    print_verdict(verdict_text_of_sessions(folder.new_sessions(), kColumns));
  std::fprintf(stderr, "vramscope: see 'vramscope report %s'\n", shown.c_str());
}

int refuse(const std::string& command, int error) {
  const bool missing = error == ENOENT;
  std::fprintf(stderr, "vramscope: %s: %s\n", command.c_str(),
               missing ? "command not found" : std::strerror(error));
  return missing ? kNotFoundStatus : kNotExecutableStatus;
}

int run_and_drain(JobProcess& job, const OutputFolder& folder, Doorbell& bell) {
  FolderDrainer drainer(folder.path(), static_cast<uint32_t>(getpid()));
  uint32_t rung = 0;
  while (!job.ended()) rung = answer_doorbell(bell, drainer.poll_us(rung));
  drainer.finish(kPatience_us);
  print_summary(drainer, folder);
  return job.leave_like_job();
}

int run_unrecorded(JobProcess& job, Doorbell& bell) {
  constexpr uint64_t kSecond_us = 1'000'000;
  while (!job.ended()) answer_doorbell(bell, kSecond_us);
  return job.leave_like_job();
}

// As the preloaded library reads it.
bool recording_is_disabled() {
  const char* value = getenv("VRAMSCOPE_DISABLE");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

int run(const RunOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    throw UserError("run: no command; usage: vramscope run [options] -- COMMAND [ARGUMENTS]");
  }
  check_options(options);
  const ProgramFile program = find_program(command.front());
  if (program.error != 0) return refuse(command.front(), program.error);
  if (!program.complaint.empty()) {
    std::fprintf(stderr, "vramscope: %s, so it is not recorded\n", program.complaint.c_str());
  }

  JobEnvironmentOptions environment;
  environment.record = !recording_is_disabled();
  environment.stacks = options.stacks.value_or("");
  environment.ring = options.ring.value_or("");
  environment.overflow = options.overflow.value_or("");
  environment.verify_unwind = options.verify_unwind;
  environment.simulated = options.simulated;
  if (options.simulates) {
    // Open until this process ends: the job's processes find it there.
    const int ledger = simgpu::JobLedger::create();
    if (ledger >= 0) environment.simulated.job = simgpu::JobLedger::name_of(ledger);
  }
  const PreloadLibraries libraries = find_preload_libraries(options.simulates);
  std::optional<OutputFolder> folder;
  if (environment.record) {
    folder.emplace(options.output ? *options.output : default_folder());
    environment.output_pattern = session_pattern(*folder);
  }
  // Signal handlers ring it: it must not end before this process.
  static const std::unique_ptr<SharedDoorbell> shared = SharedDoorbell::create();
  static Doorbell own{0};
  Doorbell& bell = shared ? shared->bell() : own;
  if (shared) environment.doorbell = shared->number();
  JobProcess job(program.path, command, job_environment(environ, libraries, environment), bell);
  if (job.exec_error() != 0) {
    if (folder) folder->remove_if_unused();
    return refuse(command.front(), job.exec_error());
  }
  return folder ? run_and_drain(job, *folder, bell) : run_unrecorded(job, bell);
}

}  // namespace

RunCommand define_run_command(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  app.add_option("-o,--output", options->output,
                 "folder for the session files, one a process [vramscope-DATE-TIME]")
      ->type_name("DIR");
  app.add_option("--stacks", options->stacks, "python,native (default), python, native or none")
      ->type_name("KINDS");
  app.add_option("--ring", options->ring, "buffer for each thread [1MiB]")->type_name("SIZE");
  app.add_option("--overflow", options->overflow,
                 "when it is full: wait (default): wait 1 ms at most, then count what is lost; or "
                 "flight-recorder: overwrite the oldest, keep what leads to an error or the end")
      ->type_name("MODE");
  app.add_flag("--verify-unwind", options->verify_unwind,
               "compare every native stack with _Unwind_Backtrace's (slow)");
  app.add_option("--simulate", options->simulated.gpu,
                 "run without a GPU, on a simulated one: h100, a100-80, l4...; or its memory: "
                 "80GiB; x2 behind it: two of them")
      ->type_name("GPU[xN]");
  app.add_option("--simulate-lag", options->simulated.lag,
                 "work completes so many driver calls after it was enqueued [0]")
      ->type_name("N");
  app.add_option("--simulate-context", options->simulated.context, "memory that a context takes")
      ->type_name("SIZE");
  app.footer("Usage: vramscope run [options] -- COMMAND [ARGUMENTS]");
  expect_job_command_line(app);
  return [options, &app] {
    options->simulates = app.count("--simulate") != 0;
    return run(*options, job_command_line(app));
  };
}

}  // namespace vramscope
