#include "tools/simgpu/core/stream.h"

#include <algorithm>

namespace simgpu {

Ticks DeviceTimeline::done_at(const Stream& stream) const {
  switch (stream.kind) {
    case StreamKind::kLegacy:
      return std::max(stream.busy_until, blocking_busy_until_);
    case StreamKind::kBlocking:
      return std::max(stream.busy_until, legacy_busy_until_);
    case StreamKind::kNonBlocking:
      return stream.busy_until;
  }
  return stream.busy_until;
}

void DeviceTimeline::enqueue(Stream& stream, Ticks now, Ticks duration, Ticks lag) {
  const Ticks start = std::max(done_at(stream), now);
  stream.busy_until = std::max(start + duration, now + lag);
  note_busy(stream);
}

void DeviceTimeline::wait_until(Stream& stream, Ticks time) {
  stream.busy_until = std::max(stream.busy_until, time);
  note_busy(stream);
}

void DeviceTimeline::note_busy(const Stream& stream) {
  all_busy_until_ = std::max(all_busy_until_, stream.busy_until);
  if (stream.kind == StreamKind::kLegacy) {
    legacy_busy_until_ = std::max(legacy_busy_until_, stream.busy_until);
  } else if (stream.kind == StreamKind::kBlocking) {
    blocking_busy_until_ = std::max(blocking_busy_until_, stream.busy_until);
  }
}

float elapsed_ms(const Event& start, const Event& end) {
  const auto ticks = static_cast<double>(static_cast<int64_t>(end.complete_at - start.complete_at));
  return static_cast<float>(ticks * kTickNanoseconds * 1e-6);
}

}  // namespace simgpu
