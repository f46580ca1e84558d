// Opens what the user names as RUN: a session file, a folder of session files (one per process,
// ranks are merged), or a snapshot pickle that PyTorch wrote.
#pragma once

#include <string>
#include <vector>

#include "tools/model/recording.h"

namespace vramscope {

struct OpenOptions {
  bool native_frames = false;  // append native frames to Python stacks
};

enum class RunFileKind { kSession, kSnapshot };

struct RunFile {
  std::string path;
  RunFileKind kind;
};

// The files that `run` stands for, by name. Throws UserError if there are none.
std::vector<RunFile> find_run_files(const std::string& run);

// Reads them all; processes come ordered by rank, then pid. One damaged file does not hide a job's
// other ranks: it is listed in Recording::unreadable. Throws UserError (or the recorder's
// FileError) if none can be read.
Recording open_recording(const std::string& run, const OpenOptions& options = {});

// A whole file. Throws UserError.
std::string read_file(const std::string& path);

}  // namespace vramscope
