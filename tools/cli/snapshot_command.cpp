// `vramscope snapshot RUN -o S.pickle`: one snapshot per process for PyTorch's memory_viz.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "tools/cli/command.h"
#include "tools/cli/process_choice.h"
#include "tools/cli/run_choice.h"
#include "tools/cli/text.h"
#include "tools/formats/recording_file.h"
#include "tools/formats/snapshot_writer.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

struct SnapshotOptions {
  RunChoice choice;
  std::string output;
  std::string process;
  bool native = false;
};

void write_file(const ProcessRecording& process, const std::string& path) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out) write_snapshot(process, out);
  out.close();
  if (!out)
    throw UserError(path + ": cannot be written: " + std::strerror(errno) +
                    "; choose another file with -o");
}

// S.pickle becomes S-rank3.pickle, or S-4711.pickle (the pid) where there are no ranks, or where
// two processes of one rank wrote sessions. A process that executed another program has one pid and
// two sessions: the second is S-4711-2.pickle.
std::string path_of(const ProcessRecording& process, const std::string& output, bool rank_is_unique,
                    std::set<std::string>& taken) {
  std::string tag = process.pid ? std::to_string(*process.pid) : "process";
  if (process.rank)
    tag = "rank" + std::to_string(*process.rank) + (rank_is_unique ? "" : "-" + tag);
  const std::filesystem::path wanted(output);
  const std::string stem = wanted.stem().string() + "-" + tag;
  const std::string extension = wanted.extension().string();
  std::filesystem::path path = wanted;
  path.replace_filename(stem + extension);
  for (int number = 2; !taken.insert(path.string()).second; ++number) {
    std::string numbered = stem;
    numbered.append("-").append(std::to_string(number)).append(extension);
    path.replace_filename(numbered);
  }
  return path.string();
}

int write_snapshots(const SnapshotOptions& options) {
  const std::string run = path_of(options.choice);
  if (options.output.empty())
    throw UserError("-o is missing: where to write (example: -o s.pickle)");
  const Recording recording = open_recording(run, {.native_frames = options.native});
  warn_of_unreadable(recording.unreadable);
  const auto chosen = choose_processes(recording, options.process, run);
  std::multiset<int64_t> ranks;
  for (const ProcessRecording* process : chosen)
    if (process->rank) ranks.insert(*process->rank);
  std::set<std::string> taken;
  for (const ProcessRecording* process : chosen) {
    const bool unique = process->rank && ranks.count(*process->rank) == 1;
    const std::string path =
        chosen.size() == 1 ? options.output : path_of(*process, options.output, unique, taken);
    write_file(*process, path);
    std::fprintf(stderr, "vramscope: wrote %s; drop it on https://pytorch.org/memory_viz\n",
                 path.c_str());
  }
  return 0;
}

}  // namespace

RunCommand define_snapshot_command(CLI::App& app) {
  const auto options = std::make_shared<SnapshotOptions>();
  add_run_choice(app, options->choice);
  app.add_option("-o,--output", options->output,
                 "the snapshot; with several processes S.pickle becomes S-rank0.pickle...");
  app.add_option("--process", options->process, "only this process: a pid, or rankN");
  app.add_flag("--native", options->native, "append native frames to Python stacks");
  return [options] { return write_snapshots(*options); };
}

}  // namespace vramscope
