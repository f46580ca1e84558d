#include "tools/analysis/allocator/agreement.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tools/model/heap.h"

namespace vramscope {
namespace {

struct ComparedEvent {
  AllocatorEvent event;
  uint32_t index = 0;  // of the trace; of replayed events: in the order of the replay
};

class EventCollector final : public AllocatorListener {
 public:
  void on_event(const AllocatorEvent& event) override {
    events_.push_back({event, static_cast<uint32_t>(events_.size())});
  }
  std::vector<ComparedEvent>& events() { return events_; }

 private:
  std::vector<ComparedEvent> events_;
};

std::vector<ComparedEvent> recorded_events(const DeviceTrace& trace) {
  const std::vector<PoolId> pools = pools_of_extras(trace);
  std::vector<ComparedEvent> events;
  uint32_t index = 0;
  for (const TraceEvent event : trace.events) {
    const uint32_t at = index++;
    if (event.outside || event.action == Action::kSnapshot) continue;
    const bool is_block = is_block_action(event.action);
    events.push_back({{event.action, event.address, is_block ? event.requested_bytes : event.size,
                       event.stream, pools[event.extra]},
                      at});
  }
  return events;
}

// Calls visit(begin, end) for the longest runs of events of which all are `wanted`.
template <typename Wanted, typename Visit>
void for_each_run(std::vector<ComparedEvent>& events, Wanted wanted, Visit visit) {
  const auto is_wanted = [&](const ComparedEvent& compared) {
    return wanted(compared.event.action);
  };
  for (auto begin = events.begin(); begin != events.end();) {
    begin = std::find_if(begin, events.end(), is_wanted);
    const auto end = std::find_if_not(begin, events.end(), is_wanted);
    visit(begin, end);
    begin = end;
  }
}

// In which order several streams' frees are completed at one moment, and several private pools give
// back their segments, depends on PyTorch's hash tables.
void put_in_order(std::vector<ComparedEvent>& events) {
  const auto is_completion = [](Action action) { return action == Action::kFreeCompleted; };
  for_each_run(events, is_completion, [](auto begin, auto end) {
    std::sort(begin, end, [](const ComparedEvent& a, const ComparedEvent& b) {
      return a.event.address < b.event.address;
    });
  });
  const auto gives_back = [](Action action) {
    return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
  };
  for_each_run(events, gives_back, [](auto begin, auto end) {
    std::stable_sort(begin, end, [](const ComparedEvent& a, const ComparedEvent& b) {
      return a.event.pool < b.event.pool;
    });
  });
}

bool takes_memory(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}

// Sizes of the segments that were taken for each request, in order: one list a request.
std::vector<std::vector<uint64_t>> segments_by_request(const std::vector<ComparedEvent>& events) {
  std::vector<std::vector<uint64_t>> requests(1);
  for (const ComparedEvent& compared : events) {
    const AllocatorEvent& event = compared.event;
    if (takes_memory(event.action)) requests.back().push_back(event.size);
    if (event.action == Action::kAlloc || event.action == Action::kOom) requests.emplace_back();
  }
  return requests;
}

void compare_segments(const std::vector<ComparedEvent>& recorded,
                      const std::vector<ComparedEvent>& replayed, Agreement& agreement) {
  const auto theirs = segments_by_request(recorded);
  const auto ours = segments_by_request(replayed);
  for (size_t i = 0; i < theirs.size(); ++i) {
    agreement.segments += theirs[i].size();
    if (i < ours.size() && theirs[i] == ours[i]) agreement.equal_segments += theirs[i].size();
  }
  for (const auto& sizes : ours) agreement.replayed_segments += sizes.size();
}

void compare_events(std::vector<ComparedEvent>& recorded, std::vector<ComparedEvent>& replayed,
                    Agreement& agreement) {
  put_in_order(recorded);
  put_in_order(replayed);
  const auto [theirs, ours] =
      std::ranges::mismatch(recorded, replayed, {}, &ComparedEvent::event, &ComparedEvent::event);
  agreement.events = recorded.size();
  agreement.equal_events = static_cast<uint64_t>(theirs - recorded.begin());
  if (theirs == recorded.end() && ours == replayed.end()) return;
  agreement.first_difference = theirs != recorded.end() ? theirs->index
                               : recorded.empty()       ? 0
                                                        : recorded.back().index;
  if (theirs != recorded.end()) agreement.recorded_there = theirs->event;
  if (ours != replayed.end()) agreement.replayed_there = ours->event;
}

uint64_t peak_reserved_bytes(const DeviceTrace& trace) {
  Heap heap(trace);
  uint64_t peak = heap.counters().reserved_bytes;
  for (const TraceEvent event : trace.events) {
    heap.apply(event);
    peak = std::max(peak, heap.counters().reserved_bytes);
  }
  return peak;
}

}  // namespace

Agreement compare_with_recording(const DeviceTrace& trace, const RequestTrace& requests,
                                 ReplayOptions options) {
  EventCollector collector;
  options.listener = &collector;
  options.stop_at_failure = false;
  Agreement agreement;
  agreement.replayed = replay(requests, options);
  std::vector<ComparedEvent> recorded = recorded_events(trace);
  compare_segments(recorded, collector.events(), agreement);
  compare_events(recorded, collector.events(), agreement);
  agreement.recorded_peak_reserved_bytes = peak_reserved_bytes(trace);
  return agreement;
}

}  // namespace vramscope
