#include "tools/formats/recording_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "recorder/ring_file.h"
#include "recorder/session_file.h"
#include "recorder/session_reader.h"
#include "tools/formats/pickle_opcodes.h"
#include "tools/formats/snapshot_reader.h"
#include "tools/model/session_recording.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

bool is_pickle(std::string_view head) {
  return !head.empty() && static_cast<uint8_t>(head.front()) == kProto;
}

[[noreturn]] void fail_with_errno(const std::string& path) {
  throw UserError(path + ": " + std::strerror(errno) +
                  "; RUN is a session file, a folder of them, or a snapshot that PyTorch wrote");
}

// Session files and ring files (what a killed process left) begin with a magic number.
RunFileKind kind_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a FIFO or a device may never end
    throw UserError(path + ": is neither a file nor a folder; write it to a file first");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path);
  char begin[sizeof kSessionFileMagic] = {};
  static_assert(sizeof begin == sizeof kRingFileMagic);
  file.read(begin, sizeof begin);
  const bool is_session = std::memcmp(begin, kSessionFileMagic, sizeof begin) == 0 ||
                          std::memcmp(begin, &kRingFileMagic, sizeof begin) == 0;
  if (is_session) return RunFileKind::kSession;
  // What is no pickle is refused by its beginning, not read whole: it may be a disk image.
  const std::string_view head(begin, static_cast<size_t>(file.gcount()));
  if (!is_pickle(head)) read_snapshot(head, path);
  return RunFileKind::kSnapshot;
}

auto order(const ProcessRecording& process) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  return std::make_tuple(process.rank.value_or(kLast), process.pid.value_or(kLast));
}

std::unique_ptr<ProcessRecording> open_process(const RunFile& file, const OpenOptions& options) {
  if (file.kind == RunFileKind::kSnapshot) return read_snapshot(read_file(file.path), file.path);
  SessionStream stream(file.path);
  return recording_of_session(stream, {.native_frames = options.native_frames});
}

}  // namespace

std::vector<RunFile> find_run_files(const std::string& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return {{run, kind_of(run)}};
  std::vector<RunFile> files;
  for (const std::string& path : find_sessions(run)) files.push_back({path, RunFileKind::kSession});
  return files;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path);
  std::string bytes;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  try {
    if (!error) bytes.reserve(size);
    char part[1 << 16];
    while (file.read(part, sizeof part), file.gcount() > 0)
      bytes.append(part, static_cast<size_t>(file.gcount()));
  } catch (const std::exception&) {  // std::bad_alloc, std::length_error
    throw UserError(path + ": its " + std::to_string(size) + " bytes do not fit into memory");
  }
  if (file.bad()) fail_with_errno(path);
  return bytes;
}

Recording open_recording(const std::string& run, const OpenOptions& options) {
  Recording recording;
  const std::vector<RunFile> files = find_run_files(run);
  for (const RunFile& file : files) {
    try {
      recording.processes.push_back(open_process(file, options));
    } catch (const std::runtime_error& error) {
      if (files.size() == 1) throw;
      recording.unreadable.emplace_back(error.what());
    }
  }
  if (recording.processes.empty()) throw UserError(recording.unreadable.front());
  std::ranges::stable_sort(recording.processes,
                           [](const auto& a, const auto& b) { return order(*a) < order(*b); });
  return recording;
}

}  // namespace vramscope
