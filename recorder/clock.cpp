#include "recorder/clock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vramscope {
namespace {

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)

bool processor_has(unsigned leaf, unsigned bit_of_edx) {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << bit_of_edx)) != 0;
}

bool processor_has_invariant_counter() {
  constexpr unsigned kRdtscp = 27;
  constexpr unsigned kInvariantTsc = 8;
  return processor_has(0x80000001, kRdtscp) && processor_has(0x80000007, kInvariantTsc);
}

bool process_may_read_counter() {
  int mode = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

// The kernel takes the counter off this list when it finds it unsynchronised.
bool kernel_trusts_counter() {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[256];
  const ssize_t length = read(fd, text, sizeof(text));
  close(fd);
  return length > 0 && std::string_view(text, length).find("tsc") != std::string_view::npos;
}

#endif

}  // namespace

ClockKind choose_clock() {
#if defined(__x86_64__)
  if (processor_has_invariant_counter() && process_may_read_counter() && kernel_trusts_counter()) {
    return ClockKind::kInvariantTsc;
  }
#endif
  return ClockKind::kMonotonicNs;
}

uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

ClockPoint clock_point(ClockKind kind) {
  // The middle of two readings: right to within half the time that reading the other clock takes.
  const uint64_t before = read_clock(kind);
  const uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
  const uint64_t after = read_clock(kind);
  return {before + (after - before) / 2, unix_ns};
}

const char* clock_name(ClockKind kind) {
  return kind == ClockKind::kInvariantTsc ? "tsc" : "monotonic_ns";
}

}  // namespace vramscope
