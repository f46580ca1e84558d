// The session's clock: the processor's time stamp counter where it is invariant and allowed, else
// CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "recorder/ring_file.h"

namespace vramscope {

// What this machine offers this process. The counter counts only if the processor says that it
// never stops or changes its rate (CPUID 0x80000007, EDX bit 8: Intel SDM vol. 3, "Invariant TSC"),
// the kernel found it synchronous across processors, and no prctl(PR_SET_TSC) forbids it.
ClockKind choose_clock();

[[gnu::cold]] uint64_t monotonic_ns();

// Now, ordered after everything that the thread did before. Any thread, no system call.
inline uint64_t read_clock(ClockKind kind) {
#if defined(__x86_64__)
  // RDTSCP waits until everything before it has executed (Intel SDM vol. 2B), and holds up nothing
  // that follows, as a fence would.
  if (kind == ClockKind::kInvariantTsc) [[likely]] {
    unsigned processor;
    return __rdtscp(&processor);
  }
#endif
  return monotonic_ns();
}

// Now, or a moment earlier, while the processor was still busy with what comes before; but before
// others can see anything that the thread does afterwards.
inline uint64_t read_clock_early(ClockKind kind) {
#if defined(__x86_64__)
  if (kind == ClockKind::kInvariantTsc) [[likely]]
    return __rdtsc();
#endif
  return monotonic_ns();
}

// Both clocks at (nearly) one instant.
ClockPoint clock_point(ClockKind kind);

const char* clock_name(ClockKind kind);  // "monotonic_ns", "tsc"

}  // namespace vramscope
