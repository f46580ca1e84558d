// The log of memory calls that the driver served: the truth that a profiler's recording is compared
// with.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace simgpu {

// What one line says beside pid, tid and result; README.md has the meaning for each entry point.
struct MemoryCall {
  const char* api;       // without _vN, _ptsz, _ptds
  uint64_t address = 0;  // pointer argument, or result where the call succeeded
  uint64_t size = 0;     // bytes as passed
  uint64_t stream = 0;   // raw argument
  uint64_t handle = 0;   // raw
  int device = -1;       // ordinal, or -1: host memory, or no device
};

// Lines are appended with a single write() each, so that several processes can share a file.
class CallLog {
 public:
  // An empty path: no log. A file that cannot be opened costs one line on stderr.
  explicit CallLog(const std::string& path);

  void write(const MemoryCall& call, int result) {
    if (is_open_) append(call, result);
  }

 private:
  void append(const MemoryCall& call, int result);
  bool open_file();
  bool own_descriptor();

  const std::string path_;
  bool is_open_ = false;
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Whether the entry point (base name) belongs to the calls that are logged.
bool is_memory_call(const std::string& base_name);

}  // namespace simgpu
