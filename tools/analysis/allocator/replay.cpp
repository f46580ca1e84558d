#include "tools/analysis/allocator/replay.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/allocator/sizes.h"

namespace vramscope {
namespace {

class Replayer {
 public:
  Replayer(const RequestTrace& trace, const ReplayOptions& options)
      : trace_(trace),
        options_(options),
        device_(options.capacity_bytes),
        allocator_(options.settings, device_, options.listener),
        blocks_(trace.block_numbers) {
    for (const PoolId pool : trace.pools) pools_.push_back(&allocator_.pool(pool));
  }

  ReplayResult run() {
    for (const AllocatorRequest& request : trace_.requests) {
      if (next_emptying_ < options_.empty_cache_at.size()) empty_cache_before(request.event);
      serve(request);
      if (stopped_) break;
    }
    complete_late_frees();
    result_.end = allocator_.counters();
    return result_;
  }

 private:
  struct LiveBlock {
    CachedBlock* block = nullptr;
    uint64_t serial = 0;
  };

  void empty_cache_before(uint32_t event) {
    const auto& events = options_.empty_cache_at;
    bool due = false;
    for (; next_emptying_ < events.size() && events[next_emptying_] <= event; ++next_emptying_)
      due = true;
    if (due) allocator_.empty_cache();
  }

  void serve(const AllocatorRequest& request) {
    switch (request.kind) {
      case RequestKind::kAlloc:
      case RequestKind::kRefusedAlloc:
        return allocate(request);
      case RequestKind::kFree:
        if (CachedBlock* block = take(request.block).block) allocator_.free(block);
        return;
      case RequestKind::kRequestFree:
        if (CachedBlock* block = blocks_[request.block].block) allocator_.request_free(block);
        return;
      case RequestKind::kCompleteFree:
        return complete(request.block);
      case RequestKind::kCompleteMaybeLate:
        (chooses(request.bytes) ? maybe_late_ : late_).push_back(request.block);
        return;
      case RequestKind::kCompleteLate:
        late_.push_back(request.block);
        return;
      case RequestKind::kReleasePool:
        return allocator_.release_pool(*pools_[request.pool]);
      case RequestKind::kEmptyPool:
        return allocator_.empty_pool(*pools_[request.pool]);
      case RequestKind::kEmptyCache:
        return allocator_.empty_cache();
      case RequestKind::kTakeOutside:
        if (!device_.take_outside(request.bytes)) fail(request);
        return note_peaks();
      case RequestKind::kGiveBackOutside:
        return device_.give_back_outside(request.bytes);
    }
  }

  // Whether the settings make a request give back a segment of that size before it waits.
  bool chooses(uint64_t segment_bytes) const {
    return options_.settings.garbage_collection_threshold > 0 ||
           segment_bytes >= options_.settings.max_split_bytes;
  }

  void allocate(const AllocatorRequest& request) {
    expect_segments_before(request.event);
    complete_maybe_late_frees(request);
    CachedBlock* block =
        allocator_.allocate(request.bytes, trace_.streams[request.stream], *pools_[request.pool]);
    complete_late_frees();
    const bool was_refused = request.kind == RequestKind::kRefusedAlloc;
    note_peaks();
    if (block == nullptr) {
      if (was_refused) ++result_.refused_as_recorded;
      return fail(request);
    }
    if (was_refused) {  // what the program would have done with it is not known
      ++result_.refused_before;
      return allocator_.free(block);
    }
    ++result_.requests;
    blocks_[request.block] = {block, block->serial};
  }

  void expect_segments_before(uint32_t event) {
    const std::span<const RecordedSegment> segments(trace_.segments);
    const size_t begin = next_segment_;
    while (next_segment_ < segments.size() && segments[next_segment_].event < event)
      ++next_segment_;
    device_.expect(segments.subspan(begin, next_segment_ - begin), segments.subspan(next_segment_));
  }

  static bool is_pending(const LiveBlock& live) {
    return live.block != nullptr && CachingAllocator::is_pending(live.block, live.serial);
  }

  LiveBlock take(uint32_t number) { return std::exchange(blocks_[number], {}); }

  // The block may have been completed already: a request waited for it.
  void complete(uint32_t number) {
    const LiveBlock live = take(number);
    if (is_pending(live)) allocator_.complete_free(live.block);
  }

  // Segments that are given back by age or size depend on which frees are complete. If those would
  // have served the request, it would not have asked the driver: it waited for them.
  void complete_maybe_late_frees(const AllocatorRequest& request) {
    if (maybe_late_.empty()) return;
    std::vector<CachedBlock*> pending;
    for (const uint32_t number : maybe_late_)
      if (is_pending(blocks_[number])) pending.push_back(blocks_[number].block);
    const bool waited = allocator_.would_serve(
        pending, request.bytes, trace_.streams[request.stream], *pools_[request.pool]);
    if (waited) {
      late_.insert(late_.end(), maybe_late_.begin(), maybe_late_.end());
    } else {
      for (const uint32_t number : maybe_late_) complete(number);
    }
    maybe_late_.clear();
  }

  void complete_late_frees() {
    for (const uint32_t number : late_) complete(number);
    late_.clear();
  }

  void note_peaks() {
    const AllocatorCounters& now = allocator_.counters();
    result_.peak_allocated_bytes = std::max(result_.peak_allocated_bytes, now.allocated_bytes);
    result_.peak_active_bytes = std::max(result_.peak_active_bytes, now.active_bytes);
    result_.peak_device_bytes =
        std::max(result_.peak_device_bytes, now.reserved_bytes + device_.outside_bytes());
    if (now.reserved_bytes <= result_.peak_reserved_bytes) return;
    result_.peak_reserved_bytes = now.reserved_bytes;
    result_.allocated_at_peak_reserved = now.allocated_bytes;
  }

  void fail(const AllocatorRequest& request) {
    const bool was_refused = request.kind == RequestKind::kRefusedAlloc;
    const bool is_outside = request.kind == RequestKind::kTakeOutside;
    if (!was_refused) stopped_ = options_.stop_at_failure;
    if (result_.failure && (was_refused || !result_.failure->was_refused)) return;
    const AllocatorCounters& now = allocator_.counters();
    ReplayFailure failure;
    failure.event = request.event;
    failure.requested_bytes = request.bytes;
    failure.needed_bytes =
        is_outside ? request.bytes
                   : segment_bytes_for(rounded_request(request.bytes, options_.settings),
                                       options_.settings);
    failure.free_bytes = device_.free_bytes();
    failure.reserved_bytes = now.reserved_bytes;
    failure.allocated_bytes = now.allocated_bytes;
    failure.active_bytes = now.active_bytes;
    failure.outside_bytes = device_.outside_bytes();
    failure.largest_cached_block = allocator_.largest_cached_block();
    failure.is_outside = is_outside;
    failure.was_refused = was_refused;
    result_.failure = failure;
  }

  const RequestTrace& trace_;
  const ReplayOptions& options_;
  SimulatedDevice device_;
  CachingAllocator allocator_;
  std::vector<LiveBlock> blocks_;  // by number
  std::vector<PoolPair*> pools_;
  std::vector<uint32_t> late_;        // blocks to be completed after the next request
  std::vector<uint32_t> maybe_late_;  // or before it
  size_t next_segment_ = 0;
  size_t next_emptying_ = 0;
  bool stopped_ = false;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const RequestTrace& requests, const ReplayOptions& options) {
  return Replayer(requests, options).run();
}

}  // namespace vramscope
