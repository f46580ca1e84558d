#include "tools/analysis/range_use.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tools/analysis/allocated_bytes.h"

namespace vramscope {
namespace {

bool is_optimizers(const NamedRange& range) {
  return range.kind == RangeKind::kOptimizerStep || range.kind == RangeKind::kZeroGrad;
}

std::vector<size_t> boundaries(const ProcessRecording& process, int device) {
  std::vector<size_t> events = {0};
  for (const NamedRange& range : process.ranges) {
    events.push_back(range.begin.events_of(device));
    events.push_back(range.end.events_of(device));
  }
  return events;
}

class RangeSummary {
 public:
  RangeSummary(const ProcessRecording& process, const DeviceTrace& trace)
      : device_(trace.device), allocated_(trace, boundaries(process, trace.device)) {
    for (const NamedRange& range : process.ranges)
      is_optimizers(range) ? add_call(range) : add_nvtx(range);
    for (const auto& [key, use] : nvtx_) report.nvtx.push_back(use);
    std::ranges::stable_sort(report.nvtx, std::ranges::greater(), &NvtxUse::peak_allocated_bytes);
    for (Steps& steps : steps_) {
      steps.use.growth_bytes = growth(steps.at_end);
      report.steps.push_back(std::move(steps.use));
    }
  }

  RangeReport report;

 private:
  struct Steps {
    StepUse use;
    size_t last_end = 0;           // events before it
    std::vector<uint64_t> at_end;  // allocated bytes
  };

  void add_nvtx(const NamedRange& range) {
    NvtxUse& use = nvtx_[{range.domain, range.name, range.kind}];
    const size_t begin = range.begin.events_of(device_);
    const size_t end = range.end.events_of(device_);
    const auto kept = static_cast<int64_t>(allocated_.after(end) - allocated_.after(begin));
    use.kind = range.kind;
    use.name = range.name;
    use.domain = range.domain;
    use.kept_bytes = use.times == 0 ? kept : std::max(use.kept_bytes, kept);
    use.peak_allocated_bytes = std::max(use.peak_allocated_bytes, allocated_.peak(begin, end));
    use.open += range.is_open;
    ++use.times;
  }

  void add_call(const NamedRange& range) {
    const auto [found, is_new] =
        steps_by_stack_.try_emplace({range.kind, range.stack}, steps_.size());
    if (is_new) {
      steps_.emplace_back();
      steps_.back().use.kind = range.kind;
      steps_.back().use.stack = range.stack;
    }
    Steps& steps = steps_[found->second];
    const size_t end = std::max(range.end.events_of(device_), steps.last_end);
    steps.use.peak_allocated_bytes.push_back(allocated_.peak(steps.last_end, end));
    steps.at_end.push_back(allocated_.after(end));
    steps.last_end = end;
  }

  static std::optional<double> growth(const std::vector<uint64_t>& at_end) {
    if (at_end.size() < 3) return std::nullopt;
    const auto gained = static_cast<int64_t>(at_end.back() - at_end[1]);
    return static_cast<double>(gained) / static_cast<double>(at_end.size() - 2);
  }

  const int device_;
  const AllocatedBytes allocated_;
  std::map<std::tuple<StringId, StringId, RangeKind>, NvtxUse> nvtx_;
  std::vector<Steps> steps_;
  std::map<std::pair<RangeKind, StackId>, size_t> steps_by_stack_;
};

}  // namespace

RangeReport report_ranges(const ProcessRecording& process, const DeviceTrace& trace) {
  if (process.ranges.empty()) return {};
  return RangeSummary(process, trace).report;
}

}  // namespace vramscope
