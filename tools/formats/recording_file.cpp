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
#include "tools/formats/snapshot_reader.h"
#include "tools/model/session_recording.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_errno(const std::string& path) {
  throw UserError(path + ": " + std::strerror(errno) +
                  "; RUN is a session file, a folder of them, or a snapshot that PyTorch wrote");
}

// Session files and ring files (what a killed process left) begin with a magic number.
RunFileKind kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path);
  char begin[sizeof kSessionFileMagic] = {};
  static_assert(sizeof begin == sizeof kRingFileMagic);
  file.read(begin, sizeof begin);
  const bool is_session = std::memcmp(begin, kSessionFileMagic, sizeof begin) == 0 ||
                          std::memcmp(begin, &kRingFileMagic, sizeof begin) == 0;
  return is_session ? RunFileKind::kSession : RunFileKind::kSnapshot;
}

auto order(const ProcessRecording& process) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  return std::make_tuple(process.rank.value_or(kLast), process.pid.value_or(kLast));
}

std::unique_ptr<ProcessRecording> open_process(const RunFile& file, const OpenOptions& options) {
  if (file.kind == RunFileKind::kSnapshot) return read_snapshot(read_file(file.path), file.path);
  return recording_of_session(read_session(file.path), {.native_frames = options.native_frames});
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
  if (!error) bytes.reserve(size);
  char part[1 << 16];
  while (file.read(part, sizeof part), file.gcount() > 0)
    bytes.append(part, static_cast<size_t>(file.gcount()));
  if (file.bad()) fail_with_errno(path);
  return bytes;
}

Recording open_recording(const std::string& run, const OpenOptions& options) {
  Recording recording;
  for (const RunFile& file : find_run_files(run))
    recording.processes.push_back(open_process(file, options));
  std::ranges::stable_sort(recording.processes,
                           [](const auto& a, const auto& b) { return order(*a) < order(*b); });
  return recording;
}

}  // namespace vramscope
