// What a reader of files throws: one line for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace vramscope {

struct FileError : std::runtime_error {
  FileError(const std::string& path, std::optional<uint64_t> offset, const std::string& what,
            const std::string& hint)
      : std::runtime_error(line(path, offset, what, hint)),
        path(path),
        offset(offset),
        problem(what),
        hint(hint) {}

  // Of a line that such an error made.
  explicit FileError(const std::string& line) : std::runtime_error(line), problem(line) {}

  std::string path;
  std::optional<uint64_t> offset;  // where in the file; nullopt: the file as a whole
  std::string problem;
  std::string hint;  // what to do; may be empty

 private:
  static std::string line(const std::string& path, std::optional<uint64_t> offset,
                          const std::string& what, const std::string& hint) {
    std::string text = path + ": " + what;
    if (offset) text += " (offset " + std::to_string(*offset) + ")";
    if (!hint.empty()) text += "; " + hint;
    return text;
  }
};

}  // namespace vramscope
