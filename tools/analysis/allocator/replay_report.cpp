#include "tools/analysis/allocator/replay_report.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "tools/model/heap.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

// What --what-if tries. Collecting garbage works only below a fraction of the device.
constexpr const char* kSensibleSettings[] = {
    "",
    "expandable_segments:True",
    "expandable_segments:True,roundup_power2_divisions:8",
    "max_split_size_mb:32",
    "max_split_size_mb:64",
    "max_split_size_mb:128",
    "max_split_size_mb:256",
    "max_split_size_mb:512",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:8",
    "roundup_power2_divisions:16",
    "large_segment_size_mb:64",
    "garbage_collection_threshold:0.6,per_process_memory_fraction:0.95",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95,max_split_size_mb:128",
};

std::vector<uint32_t> ends_of_steps(const ProcessRecording& process, const DeviceTrace& trace,
                                    uint64_t every) {
  std::vector<uint32_t> events;
  if (every == 0) return events;
  uint64_t step = 0;
  for (const NamedRange& range : process.ranges)
    if (range.kind == RangeKind::kOptimizerStep && ++step % every == 0)
      events.push_back(static_cast<uint32_t>(range.end.events_of(trace.device)));
  if (step == 0)
    throw UserError(process.source +
                    ": has no optimizer steps to empty the cache after; record the job with "
                    "'vramscope run', Python stacks included");
  std::ranges::sort(events);
  return events;
}

// Those that fit come first, then those that fail latest; then those that reserve least and call
// the driver least.
bool is_better(const ReplayRow& a, const ReplayRow& b) {
  const auto rank = [](const ReplayRow& row) {
    const auto& failure = row.result.failure;
    const uint64_t missed = failure ? std::numeric_limits<uint32_t>::max() - failure->event : 0;
    return std::tuple(failure.has_value(), missed, row.result.peak_device_bytes,
                      row.result.end.driver_calls());
  };
  return rank(a) < rank(b);
}

ReplayRow replay_row(const RequestTrace& requests, const std::string& settings,
                     const ReplayOptions& options) {
  ReplayOptions own = options;
  own.settings = parse_allocator_settings(settings);
  return {settings, false, replay(requests, own)};
}

void add_what_if(const RequestTrace& requests, const ReplayOptions& options, DeviceReplay& result) {
  const bool is_limited = result.capacity_origin != CapacityOrigin::kUnlimited;
  const auto first = static_cast<ptrdiff_t>(result.rows.size());
  for (const std::string settings : kSensibleSettings) {
    const bool needs_limit = settings.find("memory_fraction") != std::string::npos;
    if (is_limited || !needs_limit) result.rows.push_back(replay_row(requests, settings, options));
  }
  std::stable_sort(result.rows.begin() + first, result.rows.end(), is_better);
}

}  // namespace

bool can_be_replayed(const DeviceTrace& trace) {
  return std::any_of(trace.events.begin(), trace.events.end(), [](const TraceEvent& event) {
    return !event.outside && event.action == Action::kAlloc;
  });
}

std::optional<uint64_t> capacity_at_failure(const DeviceTrace& trace) {
  Heap heap(trace);
  for (const TraceEvent event : trace.events) {
    heap.apply(event);
    if (event.action != Action::kOom || event.address == 0) continue;
    return event.address + heap.counters().reserved_bytes + heap.counters().outside_bytes;
  }
  return std::nullopt;
}

std::string recorded_settings_of(const ProcessRecording& process, const DeviceTrace& trace) {
  const auto& items = process.allocator_settings.items;
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].text == "PYTORCH_CUDA_ALLOC_CONF") return items[i + 1].text;
  const bool grows = std::any_of(trace.events.begin(), trace.events.end(), [](const auto& event) {
    return !event.outside && event.action == Action::kSegmentMap;
  });
  return grows ? "expandable_segments:True" : "";
}

DeviceReplay replay_device(const ProcessRecording& process, const DeviceTrace& trace,
                           const ReplayQuestion& question) {
  const RequestTrace requests = requests_of(trace);
  DeviceReplay result;
  result.process = &process;
  result.trace = &trace;
  result.blocks_before = requests.blocks_before;
  result.requests = static_cast<uint64_t>(
      std::ranges::count(requests.requests, RequestKind::kAlloc, &AllocatorRequest::kind));

  const auto recorded_capacity = capacity_at_failure(trace);
  const std::string recorded = question.recorded_settings ? *question.recorded_settings
                                                          : recorded_settings_of(process, trace);
  ReplayOptions options;
  options.settings = parse_allocator_settings(recorded);
  options.capacity_bytes =
      recorded_capacity.value_or(question.capacity_bytes.value_or(kUnlimitedBytes));
  result.agreement = compare_with_recording(trace, requests, options);

  if (question.capacity_bytes) {
    result.capacity_origin = CapacityOrigin::kGiven;
    result.capacity_bytes = *question.capacity_bytes;
  } else if (recorded_capacity) {
    result.capacity_origin = CapacityOrigin::kFailedRequest;
    result.capacity_bytes = *recorded_capacity;
  }
  options.capacity_bytes = result.capacity_bytes;
  result.rows.push_back({recorded, true, replay(requests, options)});
  const auto steps = ends_of_steps(process, trace, question.empty_cache_every);
  options.empty_cache_at = steps;
  for (const std::string& settings : question.settings)
    result.rows.push_back(replay_row(requests, settings, options));
  if (question.what_if) add_what_if(requests, options, result);
  return result;
}

}  // namespace vramscope
