// The time of the simulated GPU. Deterministic: it has nothing to do with the host's clock.
//
// One tick = one driver call = 10 microseconds of GPU time. Work that was enqueued is done at a
// tick; a synchronisation does not wait but advances the clock to that tick. So a program that
// polls in a loop always ends (each poll is a call), and the same program sees the same times in
// every run.
#pragma once

#include <atomic>
#include <cstdint>

namespace simgpu {

using Ticks = uint64_t;

inline constexpr double kTickNanoseconds = 10'000;

// The number of ticks that last at least `nanoseconds`.
constexpr Ticks ticks_of(double nanoseconds) {
  constexpr double kLongest = 1e18;  // beyond any program's life, far from overflow
  if (!(nanoseconds > 0)) return 0;
  const double bounded = nanoseconds < kLongest ? nanoseconds : kLongest;
  const Ticks whole = static_cast<Ticks>(bounded / kTickNanoseconds);
  return static_cast<double>(whole) * kTickNanoseconds < bounded ? whole + 1 : whole;
}

// Thread-safe.
class VirtualClock {
 public:
  Ticks now() const { return now_.load(std::memory_order_relaxed); }

  void tick() { now_.fetch_add(1, std::memory_order_relaxed); }

  // Advances to `time` where that lies ahead.
  void advance_to(Ticks time) {
    Ticks current = now();
    while (current < time &&
           !now_.compare_exchange_weak(current, time, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<Ticks> now_{0};
};

}  // namespace simgpu
