#include "tools/analysis/report.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/analysis/advice.h"
#include "tools/model/heap_history.h"

namespace vramscope {
namespace {

constexpr std::string_view kFrameworkOfPickles = "PyTorch";
constexpr std::string_view kUnknownOwner = "unknown";

template <typename Use>
void sort_largest_first(std::vector<Use>& uses) {
  std::ranges::stable_sort(uses, [](const Use& a, const Use& b) { return a.bytes > b.bytes; });
}

// First pass: the counters after every event, so that the peak is known before its blocks are
// looked at.
class PeakFinder {
 public:
  PeakFinder(const ProcessRecording& process, const DeviceTrace& trace) : heap_(trace) {
    size_t last_alloc = 0;
    report.device = trace.device;
    report.events = trace.events.size();
    note_peaks(0, trace.events.empty() ? 0 : trace.events.front().time_us);
    for (size_t i = 0; i < trace.events.size(); ++i) {
      const TraceEvent event = trace.events[i];
      heap_.apply(event);
      if (event.action == Action::kOom) {
        ooms.push_back(explain_out_of_memory(process, trace, i, heap_));
        oom_events_.push_back(i);
      }
      if (event.action == Action::kAlloc && !event.outside) last_alloc = i;
      note_peaks(i + 1, event.time_us);
    }
    for (size_t i = 0; i < ooms.size(); ++i) ooms[i].is_final = oom_events_[i] >= last_alloc;
    const HeapCounters& counters = heap_.counters();
    report.live_bytes = counters.allocated_bytes;
    report.live_blocks = counters.blocks;
    report.live_reserved_bytes = counters.reserved_bytes;
  }

  DeviceReport report;
  std::vector<OutOfMemory> ooms;

 private:
  void note_peaks(size_t events_done, int64_t time_us) {
    const HeapCounters& now = heap_.counters();
    report.peak_reserved_bytes = std::max(report.peak_reserved_bytes, now.reserved_bytes);
    report.peak_outside_bytes = std::max(report.peak_outside_bytes, now.outside_bytes);
    const std::pair height{now.allocated_bytes, now.reserved_bytes + now.outside_bytes};
    if (events_done > 0 && height <= height_at_peak_) return;
    height_at_peak_ = height;
    report.peak_allocated_bytes = now.allocated_bytes;
    report.peak_event = events_done;
    report.peak_time_us = time_us;
  }

  Heap heap_;
  std::vector<size_t> oom_events_;  // of the ooms
  std::pair<uint64_t, uint64_t> height_at_peak_;
};

// Second pass, of the heap at the peak: what filled it.
void describe_blocks(const Heap& heap, DeviceReport& report) {
  std::map<std::pair<StackId, StringId>, StackUse> stacks;
  std::map<StringId, CategoryUse> categories;
  heap.blocks().for_each([&](uint64_t, const Heap::LiveBlock& block) {
    if (block.outside || block.pending_free) return;
    StackUse& use = stacks[{block.stack, block.category}];
    use.stack = block.stack;
    use.category = block.category;
    use.bytes += block.size;
    ++use.blocks;
    CategoryUse& category = categories[block.category];
    category.category = block.category;
    category.bytes += block.size;
    ++category.blocks;
  });
  for (const auto& [key, use] : stacks) report.stacks_at_peak.push_back(use);
  for (const auto& [key, use] : categories) report.allocated_at_peak.push_back(use);
  sort_largest_first(report.stacks_at_peak);
  sort_largest_first(report.allocated_at_peak);
}

void describe_owners(const Heap& heap, const ProcessRecording& process, DeviceReport& report) {
  std::map<std::string_view, uint64_t> bytes;
  for (const auto& [address, segment] : heap.segments()) {
    std::string_view owner = process.strings.at(segment.owner);
    if (owner.empty()) owner = process.from_pickle ? kFrameworkOfPickles : kUnknownOwner;
    bytes[owner] += segment.size;
  }
  for (const auto& [owner, size] : bytes) report.owners_at_peak.push_back({owner, size});
  sort_largest_first(report.owners_at_peak);
}

}  // namespace

ProcessReport report_process(const ProcessRecording& process) {
  ProcessReport result;
  result.process = &process;
  for (const DeviceTrace& trace : process.devices) {
    if (trace.events.empty() && (!trace.final_layout || trace.final_layout->segments.empty()))
      continue;
    PeakFinder finder(process, trace);
    DeviceReport& report = result.devices.emplace_back(std::move(finder.report));
    add_advice(process, trace, finder.ooms);
    result.ooms.insert(result.ooms.end(), finder.ooms.begin(), finder.ooms.end());
    const Heap heap = heap_after(trace, report.peak_event);
    describe_blocks(heap, report);
    describe_owners(heap, process, report);
    report.ranges = report_ranges(process, trace);
  }
  std::ranges::stable_sort(result.ooms, {}, &OutOfMemory::time_us);
  return result;
}

}  // namespace vramscope
