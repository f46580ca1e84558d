#include "tools/analysis/out_of_memory.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "tools/analysis/size_text.h"

namespace vramscope {
namespace {

// PyTorch: up to 1 MiB from segments of 2 MiB, below 10 MiB from segments of 20 MiB, above that the
// request rounded up to 2 MiB.
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;
constexpr uint64_t kLargestSize = uint64_t{1} << 50;  // larger than any device

uint64_t segment_bytes_for(uint64_t request) {
  if (request <= kMiB) return 2 * kMiB;
  if (request < 10 * kMiB) return 20 * kMiB;
  return request > kLargestSize ? request : (request + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// What the layout at the failure says.
struct Layout {
  uint64_t largest_free = 0;
  uint64_t largest_with_pending = 0;  // in one piece, if the pending frees were done
  uint64_t releasable = 0;
  uint64_t in_private_pools = 0;
  uint64_t stuck = 0;  // free beside live blocks
  std::map<StackId, PinnedBy> pinned;
};

class LayoutReader {
 public:
  LayoutReader(const HeapLayout& layout, const TraceEvent& request, bool cache_was_emptied)
      : layout_(layout), request_(request), cache_was_emptied_(cache_was_emptied) {}

  Layout read() {
    for (const Segment& segment : layout_.segments)
      if (!segment.outside) add(segment);
    return std::move(found_);
  }

 private:
  void add(const Segment& segment) {
    uint64_t free = 0, live = 0, piece = 0, largest = 0, largest_piece = 0;
    for (size_t i = 0; i < segment.block_count; ++i) {
      const Block& block = layout_.blocks[segment.first_block + i];
      const bool is_free = block.state == BlockState::kInactive;
      if (is_free) {
        free += block.size;
        largest = std::max(largest, block.size);
      } else if (block.state == BlockState::kActive) {
        live += block.size;
      }
      piece = block.state == BlockState::kActive ? 0 : piece + block.size;
      largest_piece = std::max(largest_piece, piece);
    }
    const bool is_whole = free == segment.size;
    if (is_whole) found_.releasable += free;
    // What an emptied cache still holds, it must not give back: a graph's, or a program's own pool.
    const bool is_private = segment.pool != std::array<int64_t, 2>{} ||
                            (is_whole && cache_was_emptied_ && !segment.is_expandable);
    if (is_private) {
      found_.in_private_pools += free;
      return;
    }
    const bool is_small = request_.size <= kMiB;
    if (segment.stream == request_.stream && segment.is_large != is_small) {
      found_.largest_free = std::max(found_.largest_free, largest);
      found_.largest_with_pending = std::max(found_.largest_with_pending, largest_piece);
    }
    if (live > 0 && free > live) pin(segment, free);
    if (!is_whole) found_.stuck += free;
  }

  // The stack with most bytes in the segment is what pins it.
  void pin(const Segment& segment, uint64_t free) {
    std::map<StackId, PinnedBy> stacks;
    for (size_t i = 0; i < segment.block_count; ++i) {
      const Block& block = layout_.blocks[segment.first_block + i];
      if (block.state != BlockState::kActive) continue;
      PinnedBy& use = stacks[block.stack];
      ++use.blocks;
      use.block_bytes += block.size;
    }
    const auto most = std::ranges::max_element(
        stacks, {}, [](const auto& entry) { return entry.second.block_bytes; });
    PinnedBy& total = found_.pinned[most->first];
    total.stack = most->first;
    total.bytes += free;
    total.blocks += most->second.blocks;
    total.block_bytes += most->second.block_bytes;
  }

  const HeapLayout& layout_;
  const TraceEvent& request_;
  const bool cache_was_emptied_;
  Layout found_;
};

class Explanation {
 public:
  Explanation(const ProcessRecording& process, const DeviceTrace& trace, size_t event,
              const Heap& heap)
      : process_(process), trace_(trace), request_(trace.events[event]) {
    result.event = event;
    find_failures(event);
    describe(heap);
    decide();
  }

  OutOfMemory result;

 private:
  // The driver's refusals since the last block, and the failure itself.
  void find_failures(size_t event) {
    size_t last_alloc = event;
    while (last_alloc > 0 && (trace_.events[last_alloc - 1].action != Action::kAlloc ||
                              trace_.events[last_alloc - 1].outside))
      --last_alloc;
    for (const FailedRequest& failure : process_.failed_requests) {
      if (failure.device != trace_.device || failure.event > event) continue;
      if (failure.is_oom && failure.event == event) failure_ = &failure;
      if (failure.is_oom && failure.event < event && failure.event >= last_alloc)
        result.refusals = 0;
      if (!failure.is_oom && failure.event >= last_alloc) ++result.refusals;
    }
  }

  void describe(const Heap& heap) {
    const HeapCounters& counters = heap.counters();
    result.device = trace_.device;
    result.requested_bytes = request_.size;
    result.reserved_bytes = counters.reserved_bytes;
    result.allocated_bytes = counters.allocated_bytes;
    result.pending_free_bytes = counters.pending_free_bytes();
    result.cached_bytes = difference(counters.reserved_bytes, counters.active_bytes);
    result.time_us = request_.time_us;
    result.stack = request_.stack;
    if (trace_.capacity_bytes != 0) result.capacity_bytes = trace_.capacity_bytes;
    if (failure_ != nullptr) result.free_bytes = failure_->free_bytes;
    if (process_.from_pickle) result.free_bytes = request_.address;
    if (result.capacity_bytes && result.free_bytes)
      result.other_bytes =
          difference(*result.capacity_bytes,
                     *result.free_bytes + counters.reserved_bytes + counters.outside_bytes);
    std::map<std::string, uint64_t> outside;
    for (const auto& [address, segment] : heap.segments())
      if (segment.outside) outside[std::string(process_.strings.at(segment.owner))] += segment.size;
    for (const auto& [owner, bytes] : outside)
      result.outside.push_back({owner.empty() ? "unknown" : owner, bytes});
    std::ranges::stable_sort(result.outside, std::greater(), &OwnerBytes::bytes);
    outside_bytes_ = counters.outside_bytes;
    by_framework_ = failure_ == nullptr || failure_->by_caching_allocator || !has_segments(heap);
    if (!by_framework_) result.asked_by = process_.strings.at(failure_->owner);
    // During a stream capture PyTorch does not: then there is one refusal alone.
    const bool cache_was_emptied = by_framework_ && result.refusals != 1 && !process_.from_pickle;
    layout_ = LayoutReader(heap.layout(), request_, cache_was_emptied).read();
    result.largest_free_block_bytes = layout_.largest_free;
    result.releasable_bytes = layout_.releasable;
    result.private_pool_bytes = layout_.in_private_pools;
    for (const auto& [stack, pinned] : layout_.pinned) result.pinned_by.push_back(pinned);
    std::ranges::stable_sort(result.pinned_by, std::greater(), &PinnedBy::bytes);
  }

  static bool has_segments(const Heap& heap) {
    return std::ranges::any_of(heap.segments(),
                               [](const auto& entry) { return !entry.second.outside; });
  }

  void conclude(OomVerdict verdict, Confidence confidence) {
    result.verdict = verdict;
    result.confidence = confidence;
  }

  template <typename... Parts>
  void because(const Parts&... parts) {
    std::string text;
    (text.append(parts), ...);
    result.because.push_back(std::move(text));
  }

  void decide() {
    if (!is_impossible() && !is_oversubscribed() && !is_starved() && !is_limited() &&
        !is_pending() && !is_in_private_pool() && !is_fragmented() && !is_outside() &&
        !is_over_capacity()) {
      because("the recording does not tell how much the device had free");
      conclude(OomVerdict::kUndecided, Confidence::kLow);
    }
  }

  bool is_impossible() {
    const uint64_t most = result.capacity_bytes.value_or(kLargestSize);
    if (request_.size <= most) return false;
    because(size_text(request_.size), " was asked for, and the GPU has ",
            result.capacity_bytes ? size_text(most) : "less than 1 PiB",
            " in all: look at the size, not at what fills the GPU");
    conclude(OomVerdict::kImpossibleSize, Confidence::kHigh);
    return true;
  }

  bool is_oversubscribed() {
    const uint64_t taken = result.reserved_bytes + outside_bytes_;
    if (!result.capacity_bytes || taken <= *result.capacity_bytes) return false;
    because(size_text(taken), " was taken of a GPU of ", size_text(*result.capacity_bytes),
            ": its driver moves memory to the host");
    conclude(OomVerdict::kOversubscribed, Confidence::kHigh);
    return true;
  }

  bool is_starved() {
    if (by_framework_) return false;
    const uint64_t free = result.free_bytes.value_or(0);
    if (layout_.releasable + free < request_.size) return false;
    because(result.asked_by.empty() ? "another library" : result.asked_by, " asked the driver for ",
            size_text(request_.size), ", which had ", free_text(), " left; PyTorch's cache held ",
            size_text(layout_.releasable),
            " in segments that nothing uses, which torch.cuda.empty_cache() gives back");
    conclude(OomVerdict::kStarvedByCache, Confidence::kHigh);
    return true;
  }

  bool is_limited() {
    if (!result.free_bytes || *result.free_bytes < segment_bytes_for(request_.size)) return false;
    because("the GPU had ", size_text(*result.free_bytes), " free, enough for ",
            size_text(request_.size));
    if (result.refusals == 0 && by_framework_ && !process_.from_pickle) {
      because(
          "the driver was not asked: the program limits itself (set_per_process_memory_fraction)");
      conclude(OomVerdict::kLimitOrRefusal, Confidence::kHigh);
    } else {
      because("yet it was refused");
      conclude(OomVerdict::kLimitOrRefusal, Confidence::kMedium);
    }
    return true;
  }

  bool is_pending() {
    if (!by_framework_ || layout_.largest_with_pending < request_.size ||
        layout_.largest_free >= request_.size || result.pending_free_bytes == 0)
      return false;
    because(size_text(result.pending_free_bytes),
            " was given back but waits for a stream that used it (record_stream)");
    because("with it ", size_text(layout_.largest_with_pending), " would be free in one piece");
    if (result.refusals == 1)
      because("PyTorch did not wait for it, as it does outside of a graph capture");
    conclude(OomVerdict::kPendingFree, Confidence::kHigh);
    return true;
  }

  bool is_in_private_pool() {
    const uint64_t elsewhere = layout_.in_private_pools;
    if (!by_framework_ || elsewhere == 0) return false;
    const uint64_t free = result.free_bytes.value_or(0);
    if (elsewhere + free < request_.size) return false;
    because(size_text(elsewhere),
            " is free in a private pool (a CUDA graph's, or torch.cuda.MemPool's), which this "
            "request must not use");
    because("without that pool ", size_text(elsewhere + free), " would be free");
    conclude(OomVerdict::kPrivatePool, process_.from_pickle || result.refusals >= 2
                                           ? Confidence::kHigh
                                           : Confidence::kMedium);
    return true;
  }

  bool is_fragmented() {
    const uint64_t free = result.free_bytes.value_or(0);
    if (!by_framework_ || result.cached_bytes + free < request_.size) return false;
    because(size_text(result.cached_bytes), " of the reserved memory is free, and ", free_text(),
            " of the GPU, but the largest piece has ", size_text(layout_.largest_free));
    if (!result.pinned_by.empty())
      because(size_text(layout_.stuck), " is free beside live blocks, whose segments cannot be ",
              "given back");
    conclude(OomVerdict::kFragmentation,
             result.free_bytes ? Confidence::kHigh : Confidence::kMedium);
    return true;
  }

  bool is_outside() {
    if (!result.capacity_bytes || !result.free_bytes) return false;
    const uint64_t others = outside_bytes_ + *result.other_bytes;
    // One context is no more than this.
    const uint64_t noteworthy = std::min(kGiB, *result.capacity_bytes / 8);
    const uint64_t missing = difference(request_.size, *result.free_bytes + result.cached_bytes);
    if (others < noteworthy || others < missing) return false;
    because(size_text(others), " of ", size_text(*result.capacity_bytes),
            " is not the caching allocator's: ", others_text());
    because("without it the request for ", size_text(request_.size), " would have fitted");
    conclude(OomVerdict::kOutsideAllocator, Confidence::kMedium);
    return true;
  }

  std::string others_text() const {
    std::string text;
    for (const OwnerBytes& use : result.outside)
      text += size_text(use.bytes) + " by " + use.owner + ", ";
    return text + size_text(*result.other_bytes) + " by contexts, code and other processes";
  }

  bool is_over_capacity() {
    if (!result.free_bytes) return false;
    because(size_text(result.allocated_bytes), " is live, ", size_text(result.cached_bytes),
            " of the cache and ", free_text(), " of the GPU are free: ", size_text(request_.size),
            " more do not fit");
    conclude(OomVerdict::kCapacity, Confidence::kHigh);
    return true;
  }

  std::string free_text() const {
    return result.free_bytes ? size_text(*result.free_bytes) : "an unknown amount";
  }

  const ProcessRecording& process_;
  const DeviceTrace& trace_;
  const TraceEvent request_;
  const FailedRequest* failure_ = nullptr;
  bool by_framework_ = true;
  uint64_t outside_bytes_ = 0;
  Layout layout_;
};

constexpr const char* kVerdictNames[] = {
    "impossible_size", "oversubscribed", "starved_by_cache",  "limit_or_refusal", "pending_free",
    "private_pool",    "fragmentation",  "outside_allocator", "capacity",         "undecided"};
constexpr const char* kConfidenceNames[] = {"low", "medium", "high"};

}  // namespace

const char* oom_verdict_name(OomVerdict verdict) {
  return kVerdictNames[static_cast<size_t>(verdict)];
}

const char* confidence_name(Confidence confidence) {
  return kConfidenceNames[static_cast<size_t>(confidence)];
}

OutOfMemory explain_out_of_memory(const ProcessRecording& process, const DeviceTrace& trace,
                                  size_t event, const Heap& heap) {
  return Explanation(process, trace, event, heap).result;
}

}  // namespace vramscope
