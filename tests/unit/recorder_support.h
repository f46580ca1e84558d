// What the recorder's tests share.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "recorder/record.h"
#include "recorder/ring_file_writer.h"

namespace vramscope {

// A folder that lives as long as the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "vramscope-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  // Names of the files in it that end in `suffix`.
  std::vector<std::string> names(const std::string& suffix) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().string().ends_with(suffix)) found.push_back(entry.path().string());
    }
    return found;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);  // ext4 flushes a file that is cut to nothing and written again
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Writers are immortal; leak checkers shall see that they are kept.
inline RingFileWriter* create_ring_file(const RingFileSetup& setup) {
  static std::vector<RingFileWriter*> kept;
  return kept.emplace_back(RingFileWriter::create(setup));
}

// Every field a different function of `number`.
inline Event numbered_event(uint64_t number) {
  Event event{};
  event.kind = RecordKind::kDeviceAlloc;
  event.device = static_cast<int8_t>(number % 4);
  event.api = static_cast<uint16_t>(number % 3);
  event.result = static_cast<int32_t>(number % 7);
  event.ticks = 1'000'000 + number;
  event.address = 0x7f00'0000'0000 + number * 512;
  event.size = number * 3 + 1;
  event.stream = number ^ 0x5555;
  event.handle = number << 20;
  event.extra = ~number;
  return event;
}

inline bool same_event(const Event& a, const Event& b) {
  return a.kind == b.kind && a.device == b.device && a.api == b.api && a.result == b.result &&
         a.ticks == b.ticks && a.address == b.address && a.size == b.size && a.stream == b.stream &&
         a.handle == b.handle && a.extra == b.extra && a.python_stack == b.python_stack &&
         a.native_stack == b.native_stack;
}

// Runs `body` in a child process; returns wait()'s status. The child leaves by _exit(0).
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace vramscope
