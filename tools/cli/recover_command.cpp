// `vramscope recover FILE.ring|FOLDER [-o OUT]`: makes whole sessions of what processes left that
// were killed together with whoever drained them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "recorder/file_error.h"
#include "recorder/log.h"
#include "recorder/process_drain.h"
#include "recorder/session_file.h"
#include "tools/cli/command.h"
#include "tools/cli/text.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

struct RecoverOptions {
  std::string run;
  std::optional<std::string> output;
};

std::vector<std::string> ring_files_of(const std::string& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    if (!run.ends_with(kRingFileSuffix)) {
      throw UserError(run +
                      ": is no ring file (*.ring) and no folder; sessions are read as they "
                      "are: vramscope report " +
                      run);
    }
    return {run};
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    if (entry.path().string().ends_with(kRingFileSuffix)) files.push_back(entry.path().string());
  }
  if (error) throw UserError(run + ": cannot be read: " + error.message());
  std::ranges::sort(files, {}, session_name_of);
  return files;
}

// Whoever writes and drains it must be gone: two drainers would take records from each other.
void check_left_behind(const std::string& path) {
  const auto reader = RingReader::open(path, RingReader::Access::kLook);
  if (!reader) throw UserError(path + ": has no header: its process was ended before it began");
  if (reader->process_lives()) {
    const std::string pid = std::to_string(reader->pid());
    throw UserError(path + ": process " + pid + " still runs; see 'vramscope report --pid " + pid +
                    "'");
  }
}

// Copies of the ring file and its session file, so that those that were found stay as they are.
std::string copy_into(const std::string& folder, const std::string& path) {
  std::error_code error;
  fs::create_directories(folder, error);
  const std::string name = folder + "/" + fs::path(session_name_of(path)).filename().string();
  for (const char* suffix : {kRingFileSuffix, kSessionFileSuffix}) {
    const std::string from = session_name_of(path) + suffix;
    if (!error && fs::exists(from)) fs::copy_file(from, name + suffix, error);
    if (error) throw UserError(name + suffix + ": cannot be made: " + error.message());
  }
  return name + kRingFileSuffix;
}

void recover_file(const std::string& path, const RecoverOptions& options) {
  check_left_behind(path);
  const std::string used = options.output ? copy_into(*options.output, path) : path;
  auto reader = RingReader::open(used, RingReader::Access::kDrain);
  if (!reader || !reader->claim()) throw UserError(used + ": is drained by another process");
  ProcessDrain drain(std::move(reader));
  if (!drain.finish(true)) {
    throw UserError(drain.problem().empty() ? used +
                                                  ": is damaged; 'vramscope report' shows what "
                                                  "can be read"
                                            : drain.problem());
  }
  std::fprintf(stderr, "vramscope: recovered %s: %s of process %u%s\n",
               drain.session_path().c_str(), plural(drain.events(), "event").c_str(), drain.pid(),
               drain.lost_events() == 0
                   ? ""
                   : (" (" + with_commas(drain.lost_events()) + " more were lost)").c_str());
}

int recover(const RecoverOptions& options) {
  constexpr int kSomeFailedStatus = 2;
  set_log_level(LogLevel::kOff);  // problems are told once, below
  if (options.output && options.output->empty()) throw UserError("-o: no folder given");
  const std::vector<std::string> files = ring_files_of(options.run);
  if (files.empty()) {
    std::fprintf(stderr, "vramscope: %s: nothing is left to recover\n", options.run.c_str());
  }
  int status = 0;
  for (const std::string& file : files) {
    try {
      recover_file(file, options);
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "vramscope: %s\n", error.what());
      status = kSomeFailedStatus;
    }
  }
  return status;
}

}  // namespace

RunCommand define_recover_command(CLI::App& app) {
  const auto options = std::make_shared<RecoverOptions>();
  app.add_option("RUN", options->run, "a ring file (*.ring), or a folder of them")->required();
  app.add_option("-o,--output", options->output,
                 "folder for whole copies of the sessions; without it they are completed in place "
                 "and the ring files removed")
      ->type_name("DIR");
  return [options] { return recover(*options); };
}

}  // namespace vramscope
