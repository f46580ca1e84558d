// `vramscope dump RUN`: the recorded calls, one a line, in the form of the simulated driver's log.
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "recorder/session_stream.h"
#include "tools/cli/command.h"
#include "tools/cli/run_choice.h"
#include "tools/cli/text.h"
#include "tools/formats/recording_file.h"
#include "tools/formats/snapshot_reader.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

struct DumpOptions {
  RunChoice choice;
  bool blocks = false;
};

struct Line {
  uint64_t process = 0;
  uint64_t thread = 0;
  std::string api;
  int result = 0;
  int device = kNoDevice;
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  uint64_t handle = 0;
};

void print(const Line& line) {
  std::printf("%" PRIu64 "\t%" PRIu64 "\t%s\t%d\t%d\t0x%" PRIx64 "\t%" PRIu64 "\t0x%" PRIx64
              "\t0x%" PRIx64 "\n",
              line.process, line.thread, line.api.c_str(), line.result, line.device, line.address,
              line.size, line.stream, line.handle);
}

// cuMemAlloc_v2, cuMemAllocAsync_ptsz: variants of one entry point.
std::string base_name(std::string name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  const size_t version = name.rfind("_v");
  if (version != std::string::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string::npos)
    name.resize(version);
  return name;
}

const char* block_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::kBlockAlloc:
      return "block_alloc";
    case RecordKind::kBlockFree:
      return "block_free";
    case RecordKind::kBlockOom:
      return "block_oom";
    default:
      return nullptr;
  }
}

void dump_session(SessionStream& stream, const DumpOptions& options) {
  const Session& session = stream.session();
  while (const SessionEvent* recorded = stream.next()) {
    const auto& [event, thread] = *recorded;
    if (is_mark(event.kind) || is_cupti(event.kind) || event.kind == RecordKind::kBlockPending)
      continue;
    const char* block = block_name(event.kind);
    if (block != nullptr && !options.blocks) continue;
    Line line;
    line.process = session.pid;
    if (thread < session.threads.size()) line.thread = session.threads[thread].thread_id;
    if (block != nullptr) {
      line.api = block;
    } else if (const auto name = session.api_names.find(event.api);
               name != session.api_names.end()) {
      line.api = shown(base_name(name->second), kTextColumns);
    } else {
      line.api = "api_" + std::to_string(event.api);  // its definition was lost
    }
    line.result = event.result;
    line.device = event.device;
    line.address = event.address;
    line.size = event.size;
    line.stream = event.stream;
    line.handle = event.handle;
    print(line);
  }
}

// PyTorch's snapshots hold no driver calls: its segments are what comes closest.
void dump_snapshot(const ProcessRecording& process, const DumpOptions& options) {
  for (const DeviceTrace& trace : process.devices) {
    for (const TraceEvent event : trace.events) {
      if (event.action > Action::kSegmentUnmap && !options.blocks) continue;
      Line line;
      line.api = action_name(event.action);
      line.device = trace.device;
      line.address = event.address;
      line.size = event.size;
      line.stream = event.stream;
      print(line);
    }
  }
}

// Printed once the first file was read: a file that cannot be read leaves no output.
void print_heading() { std::puts("#pid\ttid\tapi\tresult\tdevice\taddress\tsize\tstream\thandle"); }

void dump_file(const RunFile& file, bool is_first, const DumpOptions& options) {
  if (file.kind == RunFileKind::kSession) {
    SessionStream stream(file.path);
    if (is_first) print_heading();
    dump_session(stream, options);
  } else {
    const auto snapshot = read_snapshot(read_file(file.path), file.path);
    if (is_first) print_heading();
    dump_snapshot(*snapshot, options);
  }
}

int dump(const DumpOptions& options) {
  const auto files = find_run_files(path_of(options.choice));
  std::vector<std::string> unreadable;
  size_t dumped = 0;
  for (const RunFile& file : files) {
    try {
      dump_file(file, dumped == 0, options);
      ++dumped;
    } catch (const std::runtime_error& error) {
      unreadable.emplace_back(error.what());
    }
  }
  if (dumped == 0) throw UserError(unreadable.front());
  warn_of_unreadable(unreadable);
  if (std::fflush(stdout) != 0) throw UserError("standard output: cannot be written");
  return 0;
}

}  // namespace

RunCommand define_dump_command(CLI::App& app) {
  const auto options = std::make_shared<DumpOptions>();
  add_run_choice(app, options->choice);
  app.add_flag("--blocks", options->blocks, "also what the framework's allocator handed out");
  return [options] { return dump(*options); };
}

}  // namespace vramscope
