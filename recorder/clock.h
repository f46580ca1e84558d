// The session's clock: the processor's time stamp counter where it is invariant and allowed, else
// CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#include "recorder/ring_file.h"

namespace vramscope {

// What this machine offers this process. The counter counts only if the processor says that it
// never stops or changes its rate (CPUID 0x80000007, EDX bit 8: Intel SDM vol. 3, "Invariant TSC"),
// the kernel found it synchronous across processors, and no prctl(PR_SET_TSC) forbids it.
ClockKind choose_clock();

// Now, ordered after everything that the thread did before. Any thread, no system call.
uint64_t read_clock(ClockKind kind);

uint64_t monotonic_ns();

// Both clocks at (nearly) one instant.
ClockPoint clock_point(ClockKind kind);

const char* clock_name(ClockKind kind);  // "monotonic_ns", "tsc"

}  // namespace vramscope
