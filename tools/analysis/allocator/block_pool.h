// The blocks of the caching allocator, and the order in which its pools search them.
//
//   segment       [ block | block | block ]              prev/next in address order; blocks of one
//                                                        segment, used ones too
//   expandable    [ block | block | not mapped       ]   as much address space as ever needed
//
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace vramscope {

// PyTorch's id of a private pool; {0, 0}: the default pool.
using PoolId = std::array<int64_t, 2>;

struct BlockPool;

// Addresses into which memory is mapped page by page.
struct ExpandableSegment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t page_bytes = 0;
};

enum class BlockUse : uint8_t {
  kCached,
  kAllocated,
  kPendingFree,  // given back, but a stream still uses it
};

struct CachedBlock {
  uint64_t stream = 0;
  uint64_t size = 0;
  uint64_t segment_number = 0;  // in the order in which segments were taken from the driver
  uint64_t address = 0;
  uint64_t requested_bytes = 0;
  BlockPool* pool = nullptr;
  CachedBlock* prev = nullptr;
  CachedBlock* next = nullptr;
  ExpandableSegment* expandable = nullptr;
  int64_t searches_before = 0;  // BlockPool::searches when it came into the pool: its age
  uint64_t serial = 0;          // of the request that it serves: tells two uses of a block apart
  BlockUse use = BlockUse::kCached;
  bool mapped = true;

  bool is_split() const { return prev != nullptr || next != nullptr; }
};

// Of equal sizes the oldest segment: not addresses, which differ from rank to rank, since 2.13.
struct BySize {
  bool operator()(const CachedBlock* a, const CachedBlock* b) const {
    return std::tie(a->stream, a->size, a->segment_number, a->address) <
           std::tie(b->stream, b->size, b->segment_number, b->address);
  }
};

struct ByAddress {
  bool operator()(const CachedBlock* a, const CachedBlock* b) const {
    return std::tie(a->stream, a->address) < std::tie(b->stream, b->address);
  }
};

using BlocksBySize = std::set<CachedBlock*, BySize>;
using BlocksByAddress = std::set<CachedBlock*, ByAddress>;

struct BlockPool {
  bool small = false;
  PoolId owner{};
  BlocksBySize cached;
  BlocksByAddress unmapped;
  int64_t searches = 0;  // counted only if blocks are collected by age

  // The pool of a graph's own (a MemPool's first number is 0): used while a stream is captured.
  bool is_captured() const { return owner[0] != 0; }

  void insert(CachedBlock* block) {
    block->searches_before = searches;
    cached.insert(block);
  }
};

// The small and the large blocks of one owner: of the default pool, a graph, a MemPool.
struct PoolPair {
  explicit PoolPair(PoolId owner) {
    small.small = true;
    small.owner = large.owner = owner;
  }
  BlockPool small;
  BlockPool large;
  bool freeable = false;  // private, and its graph or MemPool is gone
};

// Blocks come and go by the million: their memory is used again.
class BlockArena {
 public:
  CachedBlock* make() {
    if (unused_.empty()) grow();
    CachedBlock* block = unused_.back();
    unused_.pop_back();
    *block = {};
    return block;
  }
  void drop(CachedBlock* block) { unused_.push_back(block); }

 private:
  static constexpr size_t kChunk = 1024;

  void grow() {
    chunks_.push_back(std::make_unique<CachedBlock[]>(kChunk));
    for (size_t i = kChunk; i-- > 0;) unused_.push_back(&chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<CachedBlock[]>> chunks_;
  std::vector<CachedBlock*> unused_;
};

}  // namespace vramscope
