// What the caching allocator takes from the driver, and what it gives back before it gives up.
#include <algorithm>
#include <limits>
#include <vector>

#include "tools/analysis/allocator/caching_allocator.h"

namespace vramscope {

CachedBlock* CachingAllocator::ask_driver(const Request& request) {
  if (request.segment_bytes > allowed_bytes_ ||
      counters_.reserved_bytes > allowed_bytes_ - request.segment_bytes)
    return nullptr;
  if (settings_.expandable_segments) return expand(request);
  const auto address = device_.allocate(request.segment_bytes);
  if (!address) return nullptr;
  CachedBlock* block = arena_.make();
  block->stream = request.stream;
  block->size = request.segment_bytes;
  block->segment_number = ++last_segment_number_;
  block->address = *address;
  block->pool = request.pool;
  counters_.reserved_bytes += block->size;
  ++counters_.segment_allocs;
  emit(Action::kSegmentAlloc, block->address, block->size, *block);
  return block;
}

void CachingAllocator::release_block(CachedBlock* block) {
  emit(Action::kSegmentFree, block->address, block->size, *block);
  device_.free(block->address, block->size);
  counters_.reserved_bytes -= block->size;
  ++counters_.segment_frees;
  block->pool->cached.erase(block);
  arena_.drop(block);
}

// With max_split_size: one block that is large enough, else the largest ones of the stream until
// their sum is.
bool CachingAllocator::release_oversize(const Request& request) {
  if (settings_.max_split_bytes == std::numeric_limits<uint64_t>::max()) return false;
  BlocksBySize& cached = request.pool->cached;
  CachedBlock key;
  key.stream = request.stream;
  key.size = std::max(request.rounded_bytes, settings_.max_split_bytes);
  auto candidate = cached.lower_bound(&key);
  if (candidate != cached.end() && (*candidate)->stream == request.stream &&
      (*candidate)->expandable == nullptr) {
    release_block(*candidate);
    return true;
  }
  uint64_t released = 0;
  while (released < key.size && candidate != cached.begin()) {
    CachedBlock* block = *--candidate;
    if (block->size < settings_.max_split_bytes || block->stream != request.stream) break;
    if (block->expandable != nullptr) continue;
    ++candidate;  // stays valid
    released += block->size;
    release_block(block);
  }
  return released >= key.size;
}

void CachingAllocator::release_cached(BlockPool& pool) {
  std::vector<CachedBlock*> whole;
  std::vector<CachedBlock*> expandable;
  for (CachedBlock* block : pool.cached) {
    if (block->expandable != nullptr) {
      expandable.push_back(block);
    } else if (!block->is_split()) {
      whole.push_back(block);
    }
  }
  for (CachedBlock* block : whole) release_block(block);
  for (CachedBlock* block : expandable) {
    unmap_block(block);
    if (!block->is_split() && !block->mapped) release_expandable(block);
  }
}

void CachingAllocator::release_private(PoolPair& pool) {
  release_cached(pool.small);
  release_cached(pool.large);
}

void CachingAllocator::empty_cache() {
  complete_pending_frees(nullptr);
  PoolPair& shared = pool({});
  release_cached(shared.large);
  release_cached(shared.small);
  for (auto& [id, pair] : pools_)
    if (pair.freeable) release_private(pair);
}

void CachingAllocator::empty_pool(PoolPair& pool) {
  complete_pending_frees(&pool);
  release_private(pool);
}

void CachingAllocator::complete_pending_frees(const PoolPair* of_pool) {
  std::vector<CachedBlock*> blocks;
  for (CachedBlock* block : pending_) {
    const BlockPool* pool = block->pool;
    if (of_pool == nullptr || pool == &of_pool->small || pool == &of_pool->large)
      blocks.push_back(block);
  }
  std::ranges::sort(blocks, {}, &CachedBlock::address);
  for (CachedBlock* block : blocks) complete_free(block);
}

// Gives back whole segments that have waited longer than the average, until enough are.
void CachingAllocator::collect_garbage() {
  const auto threshold = static_cast<uint64_t>(settings_.garbage_collection_threshold *
                                               static_cast<double>(allowed_bytes_));
  if (counters_.reserved_bytes <= threshold) return;
  const uint64_t target = counters_.reserved_bytes - threshold;
  BlockPool& large = pool({}).large;
  const auto age = [&large](const CachedBlock* block) {
    return static_cast<uint64_t>(large.searches - block->searches_before);
  };
  std::vector<CachedBlock*> whole;
  uint64_t total_age = 0;
  for (CachedBlock* block : large.cached) {
    if (block->is_split()) continue;
    whole.push_back(block);
    total_age += age(block);
  }
  uint64_t reclaimed = 0;
  for (bool released = true; released && reclaimed < target && !whole.empty();) {
    const double average = static_cast<double>(total_age) / static_cast<double>(whole.size());
    std::vector<CachedBlock*> kept;
    for (CachedBlock* block : whole) {
      if (block->expandable != nullptr || static_cast<double>(age(block)) < average) {
        kept.push_back(block);
        continue;
      }
      reclaimed += block->size;
      total_age -= age(block);
      release_block(block);
    }
    released = kept.size() < whole.size();
    whole = std::move(kept);
  }
}

}  // namespace vramscope
