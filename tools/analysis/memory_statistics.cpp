#include "tools/analysis/memory_statistics.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "tools/model/heap.h"

namespace vramscope {
namespace {

// PyTorch: requests of up to 1 MiB come from the small pool, whose segments have 2 MiB; those of
// the large pool have at least 10 MiB, and expandable ones grow by multiples of 20 MiB.
constexpr uint64_t kLargestSmallBlock = 1 << 20;
constexpr uint64_t kSmallSegment = 2 << 20;
constexpr uint64_t kLargePage = 20 << 20;

PoolKind pool_of_block(uint64_t size) {
  return size <= kLargestSmallBlock ? PoolKind::kSmall : PoolKind::kLarge;
}

class StatisticsWalk {
 public:
  explicit StatisticsWalk(const DeviceTrace& trace) : heap_(trace) {
    for (const auto& [address, segment] : heap_.segments())
      if (!segment.outside) add_segment(address, segment.size, segment.is_expandable);
    heap_.blocks().for_each([this](uint64_t address, const Heap::LiveBlock& block) {
      if (block.outside) return;
      open(address, block);
      if (block.pending_free) give_back(block);
    });
    for (auto& pools : result_.metrics)
      for (Statistic& statistic : pools) {  // that was before the first event
        statistic.peak = statistic.current;
        statistic.allocated = statistic.freed = 0;
      }
  }

  void apply(const TraceEvent& event) {
    if (!event.outside) count(event);
    heap_.apply(event);
  }

  const MemoryStatistics& result() const { return result_; }
  const HeapCounters& counters() const { return heap_.counters(); }

 private:
  // A segment that is no expandable one, where free blocks are stuck beside active ones.
  struct Place {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool exists = false;
  };

  void count(const TraceEvent& event) {
    const Heap::LiveBlock* block = heap_.blocks().find(event.address);
    switch (event.action) {
      case Action::kAlloc:
        if (block != nullptr) close(event.address, *block);
        return open(event.address, {event.size, event.requested_bytes});
      case Action::kFreeRequested:
        if (block != nullptr && !block->pending_free) give_back(*block);
        return;
      case Action::kFreeCompleted:
        if (block != nullptr) close(event.address, *block);
        return;
      case Action::kSegmentAlloc:
        return add_segment(event.address, event.size, false);
      case Action::kSegmentMap:
        return add_segment(event.address, event.size, true);
      case Action::kSegmentFree:
        return remove_segment(event.address, event.size, false);
      case Action::kSegmentUnmap:
        return remove_segment(event.address, event.size, true);
      case Action::kOom:
        ++result_.ooms;
        return;
      case Action::kSnapshot:
        return;
    }
  }

  void increase(Metric metric, PoolKind kind, uint64_t amount) {
    for (const PoolKind each : {PoolKind::kAll, kind}) {
      Statistic& statistic = result_.at(metric, each);
      statistic.current += amount;
      statistic.allocated += amount;
      statistic.peak = std::max(statistic.peak, statistic.current);
    }
  }

  void decrease(Metric metric, PoolKind kind, uint64_t amount) {
    for (const PoolKind each : {PoolKind::kAll, kind}) {
      Statistic& statistic = result_.at(metric, each);
      statistic.current -= amount;
      statistic.freed += amount;
    }
  }

  // PyTorch counts one change where a block is split or joined with its neighbours.
  void change(Metric metric, PoolKind kind, uint64_t before, uint64_t after) {
    if (after > before) increase(metric, kind, after - before);
    if (after < before) decrease(metric, kind, before - after);
  }

  void open(uint64_t address, const Heap::LiveBlock& block) {
    const PoolKind kind = pool_of_block(block.size);
    increase(Metric::kAllocatedBytes, kind, block.size);
    increase(Metric::kAllocation, kind, 1);
    increase(Metric::kActiveBytes, kind, block.size);
    increase(Metric::kActive, kind, 1);
    increase(Metric::kRequestedBytes, kind, block.requested_bytes);
    const Place place = place_of(address);
    const uint64_t bytes_before = stuck_bytes(place);
    uint64_t& used = used_[place.begin];
    const uint64_t gaps_before = used > 0 ? 1 : 0;
    used += block.size;
    active_[address] = block.size;
    count_stuck(place, kind, bytes_before, gaps_before, gaps_around(address, place));
  }

  void give_back(const Heap::LiveBlock& block) {
    decrease(Metric::kAllocatedBytes, pool_of_block(block.size), block.size);
    decrease(Metric::kAllocation, pool_of_block(block.size), 1);
  }

  void close(uint64_t address, const Heap::LiveBlock& block) {
    if (!block.pending_free) give_back(block);
    const PoolKind kind = pool_of_block(block.size);
    decrease(Metric::kActiveBytes, kind, block.size);
    decrease(Metric::kActive, kind, 1);
    decrease(Metric::kRequestedBytes, kind, block.requested_bytes);
    const Place place = place_of(address);
    const uint64_t bytes_before = stuck_bytes(place);
    const uint64_t gaps_before = gaps_around(address, place);
    uint64_t& used = used_[place.begin];
    used -= std::min(used, block.size);
    active_.erase(address);
    count_stuck(place, kind, bytes_before, gaps_before, used > 0 ? 1 : 0);
  }

  Place place_of(uint64_t address) const {
    auto segment = heap_.segments().upper_bound(address);
    if (segment == heap_.segments().begin()) return {};
    --segment;
    if (segment->second.is_expandable || address - segment->first >= segment->second.size)
      return {};
    return {segment->first, segment->first + segment->second.size, true};
  }

  uint64_t stuck_bytes(const Place& place) const {
    const auto used = used_.find(place.begin);
    if (!place.exists || used == used_.end() || used->second == 0) return 0;
    const uint64_t size = place.end - place.begin;
    return size - std::min(size, used->second);
  }

  uint64_t gaps_around(uint64_t address, const Place& place) const {
    const auto block = active_.find(address);
    if (!place.exists || block == active_.end()) return 0;
    const auto next = std::next(block);
    uint64_t before = place.begin;
    if (block != active_.begin()) {
      const auto previous = std::prev(block);
      before = std::max(before, previous->first + previous->second);
    }
    const uint64_t after = next == active_.end() ? place.end : std::min(place.end, next->first);
    return uint64_t{before < address} + uint64_t{address + block->second < after};
  }

  void count_stuck(const Place& place, PoolKind kind, uint64_t bytes_before, uint64_t gaps_before,
                   uint64_t gaps_after) {
    if (!place.exists) return;
    change(Metric::kInactiveSplitBytes, kind, bytes_before, stuck_bytes(place));
    change(Metric::kInactiveSplit, kind, gaps_before, gaps_after);
  }

  // In which pool an expandable segment is shows in what is mapped at once.
  PoolKind pool_of_segment(uint64_t address, uint64_t size, bool is_expandable) const {
    if (!is_expandable) return size == kSmallSegment ? PoolKind::kSmall : PoolKind::kLarge;
    auto mapped = mapped_.upper_bound(address);
    if (mapped == mapped_.begin()) return PoolKind::kLarge;
    return std::prev(mapped)->second;
  }

  void add_segment(uint64_t address, uint64_t size, bool is_expandable) {
    if (is_expandable)
      mapped_[address] = size % kLargePage == 0 ? PoolKind::kLarge : PoolKind::kSmall;
    const PoolKind kind = pool_of_segment(address, size, is_expandable);
    increase(Metric::kReservedBytes, kind, size);
    if (!is_expandable) increase(Metric::kSegment, kind, 1);
  }

  void remove_segment(uint64_t address, uint64_t size, bool is_expandable) {
    if (!is_expandable && !heap_.segments().contains(address)) return;
    const PoolKind kind = pool_of_segment(address, size, is_expandable);
    decrease(Metric::kReservedBytes, kind, size);
    if (!is_expandable) decrease(Metric::kSegment, kind, 1);
    used_.erase(address);
  }

  Heap heap_;
  MemoryStatistics result_;
  std::map<uint64_t, uint64_t> active_;  // address -> size of the blocks
  std::map<uint64_t, uint64_t> used_;    // segment -> bytes of its active blocks
  std::map<uint64_t, PoolKind> mapped_;  // expandable: what was mapped where
};

// A refusal ends with the next block, or with an out-of-memory error. PyTorch asks once more,
// but not during a stream capture: there one refusal is all that comes before the error.
uint64_t count_retries(const ProcessRecording& process, const DeviceTrace& trace, size_t events) {
  uint64_t retries = 0;
  uint64_t refusals = 0;
  const FailedRequest* last = nullptr;
  for (const FailedRequest& failure : process.failed_requests) {
    if (failure.device != trace.device || failure.event >= events) continue;
    const auto served_since = [&] {
      for (size_t i = last->event; i < failure.event; ++i)
        if (trace.events[i].action == Action::kAlloc && !trace.events[i].outside) return true;
      return false;
    };
    if (failure.is_oom && !failure.by_caching_allocator) continue;
    if (last != nullptr && refusals > 0 && served_since()) {
      ++retries;
      refusals = 0;
    }
    if (failure.is_oom) {
      retries += refusals == 1 ? 0 : 1;
      refusals = 0;
    } else {
      ++refusals;
    }
    last = &failure;
  }
  return retries + (refusals > 0 ? 1 : 0);
}

constexpr const char* kMetricNames[kMetricCount] = {
    "allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "inactive_split_bytes",
    "allocation",      "active",       "segment",         "inactive_split"};
constexpr const char* kPoolKindNames[kPoolKindCount] = {"all", "small_pool", "large_pool"};

}  // namespace

const char* metric_name(Metric metric) { return kMetricNames[static_cast<size_t>(metric)]; }

const char* pool_kind_name(PoolKind kind) { return kPoolKindNames[static_cast<size_t>(kind)]; }

MemoryStatistics memory_statistics(const ProcessRecording& process, const DeviceTrace& trace,
                                   size_t events) {
  StatisticsWalk walk(trace);
  const size_t end = std::min(events, trace.events.size());
  for (size_t i = 0; i < end; ++i) walk.apply(trace.events[i]);
  MemoryStatistics result = walk.result();
  result.retries = count_retries(process, trace, end);
  result.device = device_memory(process, trace, end, walk.counters());
  return result;
}

}  // namespace vramscope
