// One line to the job's stderr, by write(2) alone: works inside a hooked process at any moment.
#pragma once

namespace vramscope {

enum class LogLevel : int { kOff, kWarn, kInfo };

// What is written from now on; kWarn at the start.
void set_log_level(LogLevel level);

// Each writes "vramscope: " + text + newline, cut at 1000 bytes. Keep errno; never block on a lock,
// never allocate.
[[gnu::format(printf, 1, 2)]] void log_warning(const char* format, ...);
[[gnu::format(printf, 1, 2)]] void log_info(const char* format, ...);

}  // namespace vramscope
