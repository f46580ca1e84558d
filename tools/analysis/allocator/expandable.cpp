// Segments that grow: address space for the whole device, memory mapped page by page.
#include <algorithm>

#include "tools/analysis/allocator/caching_allocator.h"
#include "tools/analysis/allocator/sizes.h"

namespace vramscope {
namespace {

constexpr uint64_t round_up(uint64_t bytes, uint64_t step) {
  return (bytes + step - 1) / step * step;
}

bool is_free(const CachedBlock* block) {
  return block != nullptr && block->use == BlockUse::kCached;
}

bool has_room(const CachedBlock* block, uint64_t bytes) {
  uint64_t room = 0;
  for (; room < bytes && is_free(block); block = block->next) room += block->size;
  return room >= bytes;
}

}  // namespace

CachedBlock* CachingAllocator::part_of(const CachedBlock& block, uint64_t address, uint64_t size) {
  CachedBlock* part = arena_.make();
  part->stream = block.stream;
  part->size = size;
  part->segment_number = block.segment_number;
  part->address = address;
  part->pool = block.pool;
  part->expandable = block.expandable;
  return part;
}

void CachingAllocator::link_between(CachedBlock* before, CachedBlock* block, CachedBlock* after) {
  block->prev = before;
  block->next = after;
  if (before != nullptr) before->next = block;
  if (after != nullptr) after->prev = block;
}

CachedBlock* CachingAllocator::expand(const Request& request) {
  CachedBlock* block = find_expandable(request);
  if (!block->mapped && !map_block(block, std::min(block->size, request.rounded_bytes)))
    return nullptr;
  while (block->size < request.rounded_bytes) {  // a free block, then addresses without memory
    CachedBlock* next = block->next;
    if (!map_block(next, std::min(request.rounded_bytes - block->size, next->size))) return nullptr;
    block = next;  // which took `block` in
  }
  request.pool->cached.erase(block);
  return block;
}

// The lowest addresses with enough room, free or not mapped yet; else new ones.
CachedBlock* CachingAllocator::find_expandable(const Request& request) {
  BlockPool& pool = *request.pool;
  CachedBlock key;
  key.stream = request.stream;
  for (auto unmapped = pool.unmapped.lower_bound(&key);
       unmapped != pool.unmapped.end() && (*unmapped)->stream == request.stream; ++unmapped) {
    CachedBlock* block = *unmapped;
    if (is_free(block->prev)) block = block->prev;
    if (has_room(block, request.rounded_bytes)) return block;
  }
  auto segment = std::make_unique<ExpandableSegment>();
  segment->page_bytes = page_bytes_of(pool.small, settings_);
  segment->size =
      std::max(round_up(device_.total_bytes() + device_.total_bytes() / 8, segment->page_bytes),
               round_up(request.rounded_bytes, segment->page_bytes));
  segment->address =
      device_.reserve_addresses(segment->size, {request.stream, pool.owner, segment->page_bytes});
  CachedBlock* block = arena_.make();
  block->stream = request.stream;
  block->size = segment->size;
  block->segment_number = ++last_segment_number_;
  block->address = segment->address;
  block->pool = &pool;
  block->expandable = segment.get();
  block->mapped = false;
  pool.unmapped.insert(block);
  expandable_.emplace(segment.get(), std::move(segment));
  return block;
}

bool CachingAllocator::map_block(CachedBlock* block, uint64_t bytes) {
  const uint64_t begin = block->address;
  const uint64_t mapped = round_up(bytes, block->expandable->page_bytes);
  if (!device_.map(begin, mapped)) return false;
  BlockPool& pool = *block->pool;
  pool.unmapped.erase(block);
  block->mapped = true;
  if (mapped < block->size) {
    CachedBlock* rest = part_of(*block, begin + mapped, block->size - mapped);
    rest->mapped = false;
    link_between(block, rest, block->next);
    pool.unmapped.insert(rest);
    block->size = mapped;
  }
  merge(block, block->prev);
  merge(block, block->next);
  pool.insert(block);
  counters_.reserved_bytes += mapped;
  ++counters_.maps;
  emit(Action::kSegmentMap, begin, mapped, *block);
  return true;
}

// Whole pages inside the block lose their memory; what is left of it at both ends stays cached.
void CachingAllocator::unmap_block(CachedBlock* block) {
  const ExpandableSegment& segment = *block->expandable;
  const uint64_t block_end = block->address + block->size;
  const uint64_t begin =
      segment.address + round_up(block->address - segment.address, segment.page_bytes);
  const uint64_t end =
      segment.address + (block_end - segment.address) / segment.page_bytes * segment.page_bytes;
  if (begin >= end) return;
  BlockPool& pool = *block->pool;
  pool.cached.erase(block);
  if (begin > block->address) {
    CachedBlock* before = part_of(*block, block->address, begin - block->address);
    link_between(block->prev, before, block);
    pool.insert(before);
  }
  if (block_end > end) {
    CachedBlock* after = part_of(*block, end, block_end - end);
    link_between(block, after, block->next);
    pool.insert(after);
  }
  block->address = begin;
  block->size = end - begin;
  block->mapped = false;
  merge(block, block->prev);
  merge(block, block->next);
  pool.unmapped.insert(block);
  device_.unmap(begin, end - begin);
  counters_.reserved_bytes -= end - begin;
  ++counters_.unmaps;
  emit(Action::kSegmentUnmap, begin, end - begin, *block);
}

void CachingAllocator::release_expandable(CachedBlock* block) {
  ExpandableSegment* segment = block->expandable;
  device_.release_addresses(segment->address, segment->size);
  block->pool->unmapped.erase(block);
  arena_.drop(block);
  expandable_.erase(segment);
}

}  // namespace vramscope
