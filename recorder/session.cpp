#include "recorder/session.h"

#include <algorithm>

namespace vramscope {

int64_t Session::unix_ns(uint64_t ticks) const {
  const auto since_start = static_cast<double>(static_cast<int64_t>(ticks - start.ticks));
  const auto span_ticks = static_cast<double>(static_cast<int64_t>(end.ticks - start.ticks));
  const auto span_ns = static_cast<double>(static_cast<int64_t>(end.unix_ns - start.unix_ns));
  const double ns_per_tick = end.ticks == start.ticks ? 1.0 : span_ns / span_ticks;
  // A damaged file may hold any ticks: out of range is no defined conversion.
  constexpr double kLimit = 9e18;
  const double ns = std::clamp(since_start * ns_per_tick, -kLimit, kLimit);
  return static_cast<int64_t>(start.unix_ns + static_cast<uint64_t>(static_cast<int64_t>(ns)));
}

}  // namespace vramscope
