#include "recorder/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "recorder/blocked_signal.h"

namespace vramscope {
namespace {

constinit std::atomic<LogLevel> current_level{LogLevel::kWarn};

[[gnu::format(printf, 1, 0)]] void write_line(const char* format, va_list arguments) {
  const int saved_errno = errno;
  constexpr char kPrefix[] = "vramscope: ";
  constexpr size_t kPrefixBytes = sizeof(kPrefix) - 1;
  char line[1000];
  std::copy_n(kPrefix, kPrefixBytes, line);
  const size_t room = sizeof(line) - kPrefixBytes - 1;
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the callers below have started it
  const int wanted = vsnprintf(line + kPrefixBytes, room, format, arguments);
  size_t length = kPrefixBytes;
  if (wanted > 0) length += std::min(static_cast<size_t>(wanted), room - 1);
  line[length++] = '\n';
  const BlockedSignal closed_pipe(SIGPIPE);
  const BlockedSignal full_file(SIGXFSZ);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length);
  errno = saved_errno;
}

}  // namespace

void set_log_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }

void log_warning(const char* format, ...) {
  if (current_level.load(std::memory_order_relaxed) < LogLevel::kWarn) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void log_info(const char* format, ...) {
  if (current_level.load(std::memory_order_relaxed) < LogLevel::kInfo) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

}  // namespace vramscope
