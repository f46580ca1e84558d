#include "tools/analysis/allocated_bytes.h"

#include <algorithm>
#include <bit>

namespace vramscope {
namespace {

// A trace made from a session keeps its books: what is freed was allocated.
// Modulo 2^64, as the sizes in a damaged file may be.
uint64_t change(const TraceEvent& event) {
  if (event.outside) return 0;
  if (event.action == Action::kAlloc) return event.size;
  if (event.action == Action::kFreeRequested) return -event.size;
  return 0;
}

}  // namespace

AllocatedBytes::AllocatedBytes(const DeviceTrace& trace, std::vector<size_t> points)
    : points_(std::move(points)) {
  std::ranges::sort(points_);
  points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
  walk(trace);
  build_levels();
}

size_t AllocatedBytes::index_of(size_t events) const {
  return static_cast<size_t>(std::ranges::lower_bound(points_, events) - points_.begin());
}

void AllocatedBytes::walk(const DeviceTrace& trace) {
  levels_.emplace_back();
  uint64_t now = 0;
  int64_t peak = 0;
  size_t done = 0;
  for (const size_t point : points_) {
    for (; done < std::min(point, trace.events.size()); ++done) {
      now += change(trace.events[done]);
      peak = std::max(peak, static_cast<int64_t>(now));
    }
    if (!at_point_.empty()) levels_[0].push_back(static_cast<uint64_t>(peak));
    at_point_.push_back(now);
    peak = static_cast<int64_t>(now);
  }
}

void AllocatedBytes::build_levels() {
  for (size_t width = 2; width < points_.size(); width *= 2) {
    const std::vector<uint64_t>& half = levels_.back();
    std::vector<uint64_t> level(points_.size() - width);
    for (size_t i = 0; i < level.size(); ++i) level[i] = std::max(half[i], half[i + width / 2]);
    levels_.push_back(std::move(level));
  }
}

uint64_t AllocatedBytes::peak(size_t begin, size_t end) const {
  const size_t first = index_of(begin);
  const size_t last = index_of(end);
  const uint64_t at_begin = at_point_[first];
  if (first == last) return at_begin;
  const auto level = static_cast<size_t>(std::bit_width(last - first) - 1);
  const size_t width = size_t{1} << level;
  return std::max({at_begin, levels_[level][first], levels_[level][last - width]});
}

}  // namespace vramscope
