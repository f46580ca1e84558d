#include "tools/cli/program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace vramscope {
namespace {

int error_of_executing(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// The first that can be executed; else the first that exists.
ProgramFile search_path(const std::string& command) {
  const char* variable = getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
  ProgramFile found{"", ENOENT, ""};
  while (true) {
    const size_t end = std::min(folders.find(':'), folders.size());
    std::string path(end == 0 ? "." : folders.substr(0, end));
    path.append("/").append(command);
    const int error = error_of_executing(path);
    if (error == 0) return {path, 0, ""};
    if (error == EACCES && found.error == ENOENT) found = {path, EACCES, ""};
    if (end == folders.size()) return found;
    folders.remove_prefix(end + 1);
  }
}

bool gains_privileges(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid());
}

// An ELF file without PT_INTERP is loaded by the kernel alone.
bool is_statically_linked(std::ifstream& file) {
  Elf64_Ehdr header{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof(segment))) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

// The interpreter of a `#!` line; empty if there is none.
std::string interpreter_of(std::ifstream& file) {
  std::string line;
  file.seekg(0);
  char marker[2] = {};
  if (!file.read(marker, 2) || marker[0] != '#' || marker[1] != '!') return {};
  std::getline(file, line);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

std::string preload_complaint(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};  // executable but not readable
  const std::string interpreter = interpreter_of(file);
  if (!interpreter.empty()) {
    std::ifstream program(interpreter, std::ios::binary);
    return program && is_statically_linked(program)
               ? interpreter + " is statically linked: nothing can be preloaded"
               : std::string();
  }
  file.clear();
  if (is_statically_linked(file)) return path + " is statically linked: nothing can be preloaded";
  if (gains_privileges(path)) return path + " changes its user or group: nothing can be preloaded";
  return {};
}

}  // namespace

ProgramFile find_program(const std::string& command) {
  const bool is_path = command.find('/') != std::string::npos;
  ProgramFile program =
      is_path ? ProgramFile{command, error_of_executing(command), ""} : search_path(command);
  if (program.error == 0) program.complaint = preload_complaint(program.path);
  return program;
}

}  // namespace vramscope
