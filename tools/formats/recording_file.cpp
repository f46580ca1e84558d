#include "tools/formats/recording_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

#include "recorder/session_file.h"
#include "tools/formats/snapshot_reader.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_errno(const std::string& path) {
  throw UserError(path + ": " + std::strerror(errno) +
                  "; RUN is a session file, a folder of them, or a snapshot that PyTorch wrote");
}

RunFileKind kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_with_errno(path);
  char magic[sizeof kSessionFileMagic] = {};
  file.read(magic, sizeof magic);
  return std::memcmp(magic, kSessionFileMagic, sizeof magic) == 0 ? RunFileKind::kSession
                                                                  : RunFileKind::kSnapshot;
}

auto order(const ProcessRecording& process) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  return std::make_tuple(process.rank.value_or(kLast), process.pid.value_or(kLast),
                         std::string_view(process.source));
}

}  // namespace

std::vector<RunFile> find_run_files(const std::string& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return {{run, kind_of(run)}};
  std::vector<RunFile> files;
  for (const auto& entry : fs::directory_iterator(run, error))
    if (entry.path().extension() == kSessionFileSuffix)
      files.push_back({entry.path().string(), RunFileKind::kSession});
  if (error) throw UserError(run + ": " + error.message());
  if (files.empty())
    throw UserError(run + ": no session files (*" + kSessionFileSuffix +
                    ") in this folder; the program made no CUDA memory call, or wrote elsewhere");
  std::ranges::sort(files, {}, &RunFile::path);
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

Recording open_recording(const std::string& run, const OpenOptions&) {
  Recording recording;
  for (const RunFile& file : find_run_files(run)) {
    if (file.kind == RunFileKind::kSession) throw UserError(file.path + ": not supported yet");
    recording.processes.push_back(read_snapshot(read_file(file.path), file.path));
  }
  std::ranges::stable_sort(recording.processes,
                           [](const auto& a, const auto& b) { return order(*a) < order(*b); });
  return recording;
}

}  // namespace vramscope
