#include "tools/analysis/allocator/requests.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "tools/analysis/allocator/sizes.h"
#include "tools/model/address_map.h"
#include "tools/model/heap.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

constexpr bool takes_memory(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}

constexpr bool gives_memory_back(Action action) {
  return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
}

template <typename T>
uint16_t index_in(const T& value, std::vector<T>& all, std::map<T, uint16_t>& known) {
  const auto found = known.find(value);
  if (found != known.end()) return found->second;
  if (all.size() == std::numeric_limits<uint16_t>::max())
    throw UserError("the recording has more streams or memory pools than can be replayed");
  const auto index = static_cast<uint16_t>(all.size());
  all.push_back(value);
  known.emplace(value, index);
  return index;
}

class RequestFinder {
 public:
  explicit RequestFinder(const DeviceTrace& trace)
      : trace_(trace), extra_pools_(pools_of_extras(trace)) {
    result_.pools.push_back({});
    pool_indexes_.emplace(PoolId{}, 0);
    if (trace.final_layout) add_blocks_before(Heap(trace));
  }

  RequestTrace find() {
    const size_t count = trace_.events.size();
    for (index_ = 0; index_ < count;) {
      const TraceEvent event = trace_.events[index_];
      if (event.outside) {
        add_outside(event);
      } else if (event.action == Action::kFreeCompleted || gives_memory_back(event.action)) {
        add_releases();
        continue;
      } else {
        add(event);
      }
      ++index_;
    }
    result_.block_numbers = next_block_;
    return std::move(result_);
  }

 private:
  void add_blocks_before(const Heap& heap) {
    const HeapLayout layout = heap.layout();
    for (const Segment& segment : layout.segments) {
      for (size_t i = 0; i < segment.block_count; ++i) {
        const Block& block = layout.blocks[segment.first_block + i];
        if (block.state == BlockState::kInactive) continue;
        TraceEvent event;
        event.action = Action::kAlloc;
        event.address = block.address;
        event.size = block.size;
        event.requested_bytes = block.requested_bytes;
        event.stream = segment.stream;
        add_alloc(event, segment.pool);
        ++result_.blocks_before;
      }
    }
  }

  PoolId pool_of(const TraceEvent& event) const { return extra_pools_[event.extra]; }

  AllocatorRequest& push(RequestKind kind, const TraceEvent& event, uint64_t bytes, PoolId pool) {
    AllocatorRequest& request = result_.requests.emplace_back();
    request.kind = kind;
    request.bytes = bytes;
    request.event = static_cast<uint32_t>(index_);
    request.stream = index_in(event.stream, result_.streams, stream_indexes_);
    request.pool = index_in(pool, result_.pools, pool_indexes_);
    return request;
  }

  void add(const TraceEvent& event) {
    switch (event.action) {
      case Action::kAlloc:
        return add_alloc(event, pool_of(event));
      case Action::kFreeRequested:
        return add_free(event);
      case Action::kOom:
        push(RequestKind::kRefusedAlloc, event, std::max(event.size, event.requested_bytes),
             pool_of(event));
        return;
      case Action::kSegmentAlloc:
      case Action::kSegmentMap:
        result_.segments.push_back({static_cast<uint32_t>(index_), event.action, event.address,
                                    event.size, event.stream, pool_of(event)});
        return;
      default:
        return;
    }
  }

  void add_alloc(const TraceEvent& event, PoolId pool) {
    uint32_t number = next_block_;
    if (unused_blocks_.empty()) {
      ++next_block_;
    } else {
      number = unused_blocks_.back();
      unused_blocks_.pop_back();
    }
    blocks_.insert(event.address, number);
    push(RequestKind::kAlloc, event, event.requested_bytes, pool).block = number;
  }

  void add_free(const TraceEvent& event) {
    const uint32_t* number = blocks_.find(event.address);
    if (number == nullptr) return;
    const bool completes = completes_at_once(event);
    push(completes ? RequestKind::kFree : RequestKind::kRequestFree, event, 0, {}).block = *number;
    if (!completes) return;
    forget_block(event.address, *number);
    ++index_;
  }

  // Else the next request found it complete, or waited for it, and has a stack of its own.
  bool completes_at_once(const TraceEvent& requested) const {
    if (index_ + 1 >= trace_.events.size()) return false;
    const TraceEvent next = trace_.events[index_ + 1];
    return next.action == Action::kFreeCompleted && next.address == requested.address &&
           next.stack == requested.stack;
  }

  void forget_block(uint64_t address, uint32_t number) {
    unused_blocks_.push_back(number);
    blocks_.erase(address);
  }

  void add_completion(const TraceEvent& event, RequestKind kind, uint64_t bytes = 0) {
    const uint32_t* found = blocks_.find(event.address);
    if (found == nullptr) return;
    const uint32_t number = *found;
    push(kind, event, bytes, {}).block = number;
    forget_block(event.address, number);
  }

  // Completed frees and segments that go back to the driver, up to the next event of another kind.
  void add_releases() {
    while (index_ < trace_.events.size()) {
      const size_t end = end_of_releases();
      if (end == index_) return;
      add_releases_until(end);
    }
  }

  // Of those that one call gave back, with one stack. Completed frees behind the last that it gave
  // back are of a later call, unless a request waited for them.
  size_t end_of_releases() const {
    size_t end = index_;
    std::optional<size_t> last_release;
    for (; end < trace_.events.size(); ++end) {
      const TraceEvent event = trace_.events[end];
      const bool releases = gives_memory_back(event.action);
      if (event.outside || !(releases || event.action == Action::kFreeCompleted)) break;
      if (!releases) continue;
      if (last_release && trace_.events[*last_release].stack != event.stack) break;
      last_release = end;
    }
    if (!last_release || (end < trace_.events.size() && serves_request(end, false, *last_release)))
      return end;
    return *last_release + 1;
  }

  void add_releases_until(size_t end) {
    std::vector<PoolId> pools;
    size_t last_release = index_;
    for (size_t i = index_; i < end; ++i) {
      const TraceEvent event = trace_.events[i];
      if (!gives_memory_back(event.action)) continue;
      last_release = i;
      if (std::ranges::find(pools, pool_of(event)) == pools.end()) pools.push_back(pool_of(event));
    }
    const bool for_request =
        end < trace_.events.size() && serves_request(end, pools.empty(), last_release);
    add_completions(end, for_request);
    index_ = last_release;
    if (for_request) {
      add_gone_pools(trace_.events[end], pools);
    } else {
      add_emptied(trace_.events[last_release], pools);
    }
    index_ = end;
  }

  // A request that finds no memory waits for streams before it empties the cache, but not before it
  // gives back segments for their age or their size: those are large ones.
  void add_completions(size_t end, bool for_request) {
    const uint64_t chosen_bytes = first_large_release(end);
    bool waited = chosen_bytes == 0;
    for (; index_ < end; ++index_) {
      const TraceEvent event = trace_.events[index_];
      if (event.action != Action::kFreeCompleted) {
        waited = true;  // what is completed from here on
      } else if (!for_request) {
        add_completion(event, RequestKind::kCompleteFree);
      } else {
        add_completion(event, waited ? RequestKind::kCompleteLate : RequestKind::kCompleteMaybeLate,
                       chosen_bytes);
      }
    }
  }

  // The size of what is given back first if it is a large segment, not a part of an expandable one.
  uint64_t first_large_release(size_t end) const {
    for (size_t i = index_; i < end; ++i) {
      const TraceEvent event = trace_.events[i];
      if (!gives_memory_back(event.action)) continue;
      const bool is_large = event.action == Action::kSegmentFree && event.size > kSmallSegmentBytes;
      return is_large ? event.size : 0;
    }
    return 0;
  }

  // Whether event `index` shows that what was given back was for a request.
  bool serves_request(size_t index, bool only_completions, size_t last_release) const {
    const TraceEvent event = trace_.events[index];
    if (event.outside) return false;
    if (only_completions) return event.action == Action::kOom;
    if (event.action != Action::kOom && !takes_memory(event.action)) return false;
    return event.stack == trace_.events[last_release].stack;
  }

  // A request frees what its own pool has, and what pools have whose owners are gone.
  void add_gone_pools(const TraceEvent& request, const std::vector<PoolId>& pools) {
    for (const PoolId pool : pools)
      if (pool != PoolId{} && pool != pool_of(request))
        push(RequestKind::kReleasePool, request, 0, pool);
  }

  void add_emptied(const TraceEvent& cause, const std::vector<PoolId>& pools) {
    const bool all = std::ranges::find(pools, PoolId{}) != pools.end();
    for (const PoolId pool : pools) {
      if (pool == PoolId{}) continue;
      push(RequestKind::kReleasePool, cause, 0, pool);
      if (!all) push(RequestKind::kEmptyPool, cause, 0, pool);
    }
    if (all) push(RequestKind::kEmptyCache, cause, 0, {});
  }

  void add_outside(const TraceEvent& event) {
    if (takes_memory(event.action))
      push(RequestKind::kTakeOutside, event, event.size, {});
    else if (gives_memory_back(event.action))
      push(RequestKind::kGiveBackOutside, event, event.size, {});
  }

  const DeviceTrace& trace_;
  const std::vector<PoolId> extra_pools_;
  RequestTrace result_;
  size_t index_ = 0;
  uint32_t next_block_ = 0;
  std::vector<uint32_t> unused_blocks_;
  AddressMap<uint32_t> blocks_;  // live ones, by address
  std::map<uint64_t, uint16_t> stream_indexes_;
  std::map<PoolId, uint16_t> pool_indexes_;
};

}  // namespace

std::vector<PoolId> pools_of_extras(const DeviceTrace& trace) {
  std::vector<PoolId> pools;
  for (const Value& extra : trace.extras) {
    PoolId& pool = pools.emplace_back();
    for (size_t i = 0; i + 1 < extra.items.size(); i += 2) {
      const Value& value = extra.items[i + 1];
      if (extra.items[i].text == "pool_id" && value.items.size() == 2)
        pool = {value.items[0].integer, value.items[1].integer};
    }
  }
  return pools;
}

RequestTrace requests_of(const DeviceTrace& trace) { return RequestFinder(trace).find(); }

}  // namespace vramscope
