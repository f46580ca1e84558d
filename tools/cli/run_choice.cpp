#include "tools/cli/run_choice.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "recorder/ring_file.h"
#include "tools/model/user_error.h"

namespace vramscope {

void add_run_choice(CLI::App& app, RunChoice& choice) {
  app.add_option("RUN", choice.run, "session file, folder of session files, or pickle");
  app.add_option("--pid", choice.pid, "instead of RUN: a recorded process that still runs")
      ->type_name("PID");
}

std::string path_of(const RunChoice& choice) {
  if (choice.run.empty() == !choice.pid) {
    throw UserError(choice.pid ? "RUN and --pid: give one of them"
                               : "RUN is missing: a session file, a folder of them, or a pickle");
  }
  return choice.pid ? ring_file_of_process(*choice.pid) : choice.run;
}

std::string ring_file_of_process(uint32_t pid) {
  const std::string process = "process " + std::to_string(pid);
  const std::string folder = "/proc/" + std::to_string(pid);
  errno = 0;
  std::ifstream maps(folder + "/maps");
  std::string line;
  const bool readable = maps && std::getline(maps, line);
  if (!readable) {
    if (access(folder.c_str(), F_OK) != 0) throw UserError(process + ": does not run");
    throw UserError(process + ": cannot be looked into" +
                    (errno != 0 ? std::string(": ") + std::strerror(errno) : std::string()));
  }
  do {
    const size_t begin = line.find('/');
    if (begin == std::string::npos || !line.ends_with(kRingFileSuffix)) continue;
    std::string path = line.substr(begin);
    if (access(path.c_str(), R_OK) == 0) return path;
    // It may see other folders than this process: a container's.
    std::string inside = folder + "/root" + path;
    if (access(inside.c_str(), R_OK) == 0) return inside;
    throw UserError(path + ": cannot be read: " + std::strerror(errno));
  } while (std::getline(maps, line));
  throw UserError(process + ": is not recorded, or has made no CUDA memory call yet");
}

}  // namespace vramscope
