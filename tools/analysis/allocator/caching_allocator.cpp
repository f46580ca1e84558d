#include "tools/analysis/allocator/caching_allocator.h"

#include <algorithm>
#include <limits>

#include "tools/analysis/allocator/sizes.h"

namespace vramscope {
namespace {

uint64_t allowed_bytes(const AllocatorSettings& settings, const AllocatorDevice& device) {
  if (settings.per_process_memory_fraction >= 1) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(settings.per_process_memory_fraction *
                               static_cast<double>(device.total_bytes()));
}

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, AllocatorDevice& device,
                                   AllocatorListener* listener)
    : settings_(settings),
      device_(device),
      listener_(listener),
      allowed_bytes_(allowed_bytes(settings, device)) {}

PoolPair& CachingAllocator::pool(PoolId id) { return pools_.try_emplace(id, id).first->second; }

void CachingAllocator::emit(Action action, uint64_t address, uint64_t size,
                            const CachedBlock& block) {
  if (listener_ != nullptr)
    listener_->on_event({action, address, size, block.stream, block.pool->owner});
}

CachedBlock* CachingAllocator::allocate(uint64_t requested_bytes, uint64_t stream, PoolPair& pool) {
  constexpr uint64_t kRefusedBytes = uint64_t{1} << 60;  // PyTorch does not even look for them
  if (requested_bytes >= kRefusedBytes) return nullptr;
  const uint64_t rounded = rounded_request(requested_bytes, settings_);
  const Request request{rounded, segment_bytes_for(rounded, settings_), stream, &pool,
                        rounded <= kSmallBytes ? &pool.small : &pool.large};
  CachedBlock* block = find_cached(request);
  if (block == nullptr) block = take_new(request);
  if (block != nullptr) return hand_out(request, block, requested_bytes);
  if (listener_ != nullptr)
    listener_->on_event({Action::kOom, device_.free_bytes(), rounded, stream, request.pool->owner});
  return nullptr;
}

bool CachingAllocator::collects_garbage() const {
  return settings_.garbage_collection_threshold > 0 && settings_.per_process_memory_fraction < 1;
}

// The smallest cached block of the stream that is large enough; of expandable segments the one that
// can grow least.
CachedBlock* CachingAllocator::find_cached(const Request& request) {
  BlockPool& pool = *request.pool;
  if (collects_garbage()) ++pool.searches;
  CachedBlock key;
  key.stream = request.stream;
  key.size = request.rounded_bytes;
  auto found = pool.cached.lower_bound(&key);
  if (found == pool.cached.end() || (*found)->stream != request.stream) return nullptr;
  const auto could_be = [](const CachedBlock* block) {
    return block->size + (block->next != nullptr && !block->next->mapped ? block->next->size : 0);
  };
  for (auto next = std::next(found);
       (*found)->expandable != nullptr && next != pool.cached.end() &&
       (*next)->stream == request.stream && could_be(*next) < could_be(*found);
       ++next)
    found = next;
  CachedBlock* block = *found;
  if (!may_serve(block->size, request.rounded_bytes)) return nullptr;
  pool.cached.erase(found);
  return block;
}

// Blocks above max_split_size are kept for requests of about their size.
bool CachingAllocator::may_serve(uint64_t block_bytes, uint64_t rounded_bytes) const {
  const uint64_t limit = settings_.max_split_bytes;
  if (rounded_bytes < limit) return block_bytes < limit;
  return block_bytes - rounded_bytes < settings_.max_non_split_rounding_bytes;
}

bool CachingAllocator::would_serve(const std::vector<CachedBlock*>& completed,
                                   uint64_t requested_bytes, uint64_t stream,
                                   const PoolPair& pool) const {
  const uint64_t rounded = rounded_request(requested_bytes, settings_);
  const BlockPool* searched = rounded <= kSmallBytes ? &pool.small : &pool.large;
  const auto is_free = [&completed](const CachedBlock* block) {
    if (block == nullptr || !block->mapped) return false;
    return block->use == BlockUse::kCached ||
           std::ranges::find(completed, block) != completed.end();
  };
  return std::ranges::any_of(completed, [&](const CachedBlock* block) {
    if (block->pool != searched || block->stream != stream) return false;
    uint64_t size = block->size;
    for (auto* other = block->prev; is_free(other); other = other->prev) size += other->size;
    for (auto* other = block->next; is_free(other); other = other->next) size += other->size;
    return size >= rounded && may_serve(size, rounded);
  });
}

// In a capture the cache is not emptied: PyTorch must not wait for streams there.
CachedBlock* CachingAllocator::take_new(const Request& request) {
  if (collects_garbage()) collect_garbage();
  if (CachedBlock* block = ask_driver(request)) return block;
  if (release_oversize(request))
    if (CachedBlock* block = ask_driver(request)) return block;
  if (request.pool->is_captured()) return nullptr;
  empty_cache();
  ++counters_.retries;
  return ask_driver(request);
}

bool CachingAllocator::should_split(const CachedBlock& block, const Request& request) const {
  const uint64_t remaining = block.size - request.rounded_bytes;
  if (request.pool->small || settings_.expandable_segments) return remaining >= kMinBlockBytes;
  return request.rounded_bytes < settings_.max_split_bytes && remaining > kSmallBytes;
}

CachedBlock* CachingAllocator::hand_out(const Request& request, CachedBlock* block,
                                        uint64_t requested_bytes) {
  if (should_split(*block, request)) {
    CachedBlock* rest = block;
    block = part_of(*rest, rest->address, request.rounded_bytes);
    rest->address += request.rounded_bytes;
    rest->size -= request.rounded_bytes;
    link_between(rest->prev, block, rest);
    request.pool->insert(rest);
  }
  block->use = BlockUse::kAllocated;
  block->serial = ++last_serial_;
  block->requested_bytes = requested_bytes;
  counters_.allocated_bytes += block->size;
  counters_.active_bytes += block->size;
  emit(Action::kAlloc, block->address, requested_bytes, *block);
  return block;
}

void CachingAllocator::free(CachedBlock* block) {
  give_back(block);
  recycle(block);
}

void CachingAllocator::request_free(CachedBlock* block) {
  give_back(block);
  block->use = BlockUse::kPendingFree;
  pending_.insert(block);
}

void CachingAllocator::complete_free(CachedBlock* block) {
  pending_.erase(block);
  recycle(block);
}

void CachingAllocator::give_back(CachedBlock* block) {
  emit(Action::kFreeRequested, block->address, block->requested_bytes, *block);
  counters_.allocated_bytes -= block->size;
}

void CachingAllocator::recycle(CachedBlock* block) {
  emit(Action::kFreeCompleted, block->address, block->requested_bytes, *block);
  counters_.active_bytes -= block->size;
  block->use = BlockUse::kCached;
  merge(block, block->prev);
  merge(block, block->next);
  block->pool->insert(block);
}

// `block`, which is in no set, takes in a neighbour that is free like itself.
void CachingAllocator::merge(CachedBlock* block, CachedBlock* neighbour) {
  if (neighbour == nullptr || neighbour->use != BlockUse::kCached ||
      neighbour->mapped != block->mapped)
    return;
  block->size += neighbour->size;
  const bool comes_before = neighbour == block->prev;
  if (comes_before) block->address = neighbour->address;
  CachedBlock* beyond = comes_before ? neighbour->prev : neighbour->next;
  if (neighbour->mapped) {
    block->pool->cached.erase(neighbour);
  } else {
    block->pool->unmapped.erase(neighbour);
  }
  arena_.drop(neighbour);
  link_between(comes_before ? beyond : block->prev, block, comes_before ? block->next : beyond);
}

uint64_t CachingAllocator::largest_cached_block() const {
  uint64_t largest = 0;
  for (const auto& [id, pair] : pools_)
    for (const BlockPool* pool : {&pair.small, &pair.large})
      for (const CachedBlock* block : pool->cached) largest = std::max(largest, block->size);
  return largest;
}

}  // namespace vramscope
