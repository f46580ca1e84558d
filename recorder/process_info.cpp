#include "recorder/process_info.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>

#include "recorder/clock.h"

namespace vramscope {
namespace {

// All values together stay below kProcessInfoBytes, even where each character of a command line is
// escaped.
constexpr size_t kMaxCommandBytes = 700;
constexpr size_t kMaxPathBytes = 400;
constexpr size_t kMaxPreloadBytes = 1000;

std::string cut(std::string text, size_t max_bytes) {
  if (text.size() > max_bytes) text.replace(max_bytes - 3, std::string::npos, "...");
  return text;
}

std::string read_small_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[4096];
  const ssize_t length = read(fd, text, sizeof(text));
  close(fd);
  return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

std::string read_link(const char* path) {
  char target[PATH_MAX];
  const ssize_t length = readlink(path, target, sizeof(target));
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : std::string();
}

const char* stacks_name(const Configuration& configuration) {
  if (configuration.python_stacks) return configuration.native_stacks ? "python,native" : "python";
  return configuration.native_stacks ? "native" : "none";
}

void append_quoted(std::string_view word, std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    text += word;
    return;
  }
  text += '\'';
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  text += '\'';
}

}  // namespace

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') return "unknown";
  return name;
}

std::string quote_command(std::string_view cmdline) {
  std::string text;
  if (cmdline.ends_with('\0')) cmdline.remove_suffix(1);
  while (true) {
    if (!text.empty()) text += ' ';
    const size_t end = cmdline.find('\0');
    append_quoted(cmdline.substr(0, end), text);
    if (end == std::string_view::npos) return text;
    cmdline.remove_prefix(end + 1);
  }
}

InfoMap describe_process(const Configuration& configuration, ClockKind clock,
                         const ClockPoint& start) {
  InfoMap info;
  info["pid"] = std::to_string(getpid());
  if (const auto rank = detect_rank(environ)) info["rank"] = std::to_string(*rank);
  info["host"] = host_name();
  info["command"] = cut(quote_command(read_small_file("/proc/self/cmdline")), kMaxCommandBytes);
  info["executable"] = cut(read_link("/proc/self/exe"), kMaxPathBytes);
  info["working_directory"] = cut(read_link("/proc/self/cwd"), kMaxPathBytes);
  const char* preload = getenv("LD_PRELOAD");
  info["preload"] = cut(preload != nullptr ? preload : "", kMaxPreloadBytes);
  info["version"] = VRAMSCOPE_VERSION;
  info["stacks"] = stacks_name(configuration);
  if (configuration.overflow == Overflow::kFlightRecorder) info["overflow"] = "flight-recorder";
  info["clock"] = clock_name(clock);
  info["start_unix_ns"] = std::to_string(start.unix_ns);
  info["start_ticks"] = std::to_string(start.ticks);
  return info;
}

void set_end_point(InfoMap& info, const ClockPoint& end) {
  info["end_unix_ns"] = std::to_string(end.unix_ns);
  info["end_ticks"] = std::to_string(end.ticks);
}

}  // namespace vramscope
