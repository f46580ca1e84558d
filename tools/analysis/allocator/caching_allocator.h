// A model of PyTorch's native caching allocator (c10/cuda, as of 2.15) for one device.
//
//   CachingAllocator allocator(settings, device);
//   CachedBlock* block = allocator.allocate(1000, stream, allocator.pool({}));   // nullptr: OOM
//   allocator.free(block);             // or, while another stream still uses it:
//   allocator.request_free(block);
//   allocator.complete_free(block);
//
// The same decisions in the same order as the real one: which cached block serves a request, what
// is split and merged, which segments are taken from the driver, given back, and when. Proven by
// tests/torch/allocator_test.py. Not modelled: MemPools with use_on_oom, no_split or an allocator
// of their own, checkpoints of private pools (cudagraph trees), settings that change while it runs.
//
// Not thread-safe. The allocator owns its blocks, for as long as it lives; what a block is used for
// changes when its free is complete, which empty_cache() or a request may also bring about.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "tools/analysis/allocator/block_pool.h"
#include "tools/analysis/allocator/device.h"
#include "tools/analysis/allocator/settings.h"
#include "tools/model/trace_events.h"

namespace vramscope {

// What PyTorch would write into its history.
struct AllocatorEvent {
  Action action = Action::kAlloc;
  uint64_t address = 0;  // of kOom: the device's free bytes
  uint64_t size = 0;     // of blocks: requested bytes; of kOom: the rounded request
  uint64_t stream = 0;
  PoolId pool{};

  bool operator==(const AllocatorEvent&) const = default;
};

class AllocatorListener {
 public:
  virtual ~AllocatorListener() = default;
  virtual void on_event(const AllocatorEvent& event) = 0;
};

struct AllocatorCounters {
  uint64_t allocated_bytes = 0;  // blocks whose owner has not given them back
  uint64_t active_bytes = 0;     // and those that a stream still uses
  uint64_t reserved_bytes = 0;   // taken from the driver
  uint64_t segment_allocs = 0;   // calls of the driver
  uint64_t segment_frees = 0;
  uint64_t maps = 0;
  uint64_t unmaps = 0;
  uint64_t retries = 0;  // requests that emptied the cache and asked again

  uint64_t driver_calls() const { return segment_allocs + segment_frees + maps + unmaps; }
};

class CachingAllocator {
 public:
  // All three outlive the allocator; the listener may be nullptr.
  CachingAllocator(const AllocatorSettings& settings, AllocatorDevice& device,
                   AllocatorListener* listener = nullptr);
  CachingAllocator(const CachingAllocator&) = delete;

  PoolPair& pool(PoolId id);

  CachedBlock* allocate(uint64_t requested_bytes, uint64_t stream, PoolPair& pool);
  void free(CachedBlock* block);
  void request_free(CachedBlock* block);
  void complete_free(CachedBlock* block);

  // torch.cuda.empty_cache(): also completes pending frees, for which PyTorch waits.
  void empty_cache();
  // The graph or MemPool is gone: what its pool has cached may be given back from now on.
  void release_pool(PoolPair& pool) { pool.freeable = true; }
  void empty_pool(PoolPair& pool);

  // Whether a block that is made of these pending ones and what is free beside them would serve the
  // request from the cache.
  bool would_serve(const std::vector<CachedBlock*>& completed, uint64_t requested_bytes,
                   uint64_t stream, const PoolPair& pool) const;

  const AllocatorCounters& counters() const { return counters_; }
  const std::map<PoolId, PoolPair>& pools() const { return pools_; }
  uint64_t largest_cached_block() const;
  // Whether the block still waits, in the use that had this serial.
  static bool is_pending(const CachedBlock* block, uint64_t serial) {
    return block->use == BlockUse::kPendingFree && block->serial == serial;
  }

 private:
  struct Request {
    uint64_t rounded_bytes;
    uint64_t segment_bytes;
    uint64_t stream;
    PoolPair* owner;
    BlockPool* pool;
  };

  // caching_allocator.cpp: blocks
  CachedBlock* find_cached(const Request& request);
  bool may_serve(uint64_t block_bytes, uint64_t rounded_bytes) const;
  CachedBlock* take_new(const Request& request);
  CachedBlock* hand_out(const Request& request, CachedBlock* block, uint64_t requested_bytes);
  bool should_split(const CachedBlock& block, const Request& request) const;
  void give_back(CachedBlock* block);
  void recycle(CachedBlock* block);
  void merge(CachedBlock* block, CachedBlock* neighbour);
  bool collects_garbage() const;
  void emit(Action action, uint64_t address, uint64_t size, const CachedBlock& block);

  // release.cpp: what goes back to the driver
  CachedBlock* ask_driver(const Request& request);
  bool release_oversize(const Request& request);
  void release_cached(BlockPool& pool);
  void release_private(PoolPair& pool);
  void release_block(CachedBlock* block);
  void collect_garbage();
  void complete_pending_frees(const PoolPair* of_pool);

  // expandable.cpp
  CachedBlock* expand(const Request& request);
  CachedBlock* find_expandable(const Request& request);
  bool map_block(CachedBlock* block, uint64_t bytes);
  void unmap_block(CachedBlock* block);
  void release_expandable(CachedBlock* block);
  CachedBlock* part_of(const CachedBlock& block, uint64_t address, uint64_t size);
  static void link_between(CachedBlock* before, CachedBlock* block, CachedBlock* after);

  const AllocatorSettings& settings_;
  AllocatorDevice& device_;
  AllocatorListener* listener_;
  const uint64_t allowed_bytes_;  // by the process's fraction
  BlockArena arena_;
  std::map<PoolId, PoolPair> pools_;
  std::unordered_set<CachedBlock*> pending_;
  std::map<ExpandableSegment*, std::unique_ptr<ExpandableSegment>> expandable_;
  AllocatorCounters counters_;
  uint64_t last_serial_ = 0;
  uint64_t last_segment_number_ = 0;
};

}  // namespace vramscope
