// What the program asked of PyTorch's allocator, found in the trace of what the allocator did.
//
// A trace has requests (alloc, free_requested), what came of them (segment_alloc...), and calls of
// empty_cache() only by their effects. Which of the segments that go back to the driver were given
// back for a request that found no memory, and which by empty_cache(), is told by what follows, and
// by the stacks: for a request, all have that of the request.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/analysis/allocator/block_pool.h"
#include "tools/analysis/allocator/simulated_device.h"
#include "tools/model/recording.h"

namespace vramscope {

enum class RequestKind : uint8_t {
  kAlloc,
  kRefusedAlloc,  // ended in OutOfMemoryError
  kFree,          // and no other stream uses the block
  kRequestFree,   // another stream may still use it
  kCompleteFree,  // no more
  kCompleteLate,  // no more; the request that follows waited for it
  // Or found it complete, and gave back segments for their age or size; bytes: of the first.
  kCompleteMaybeLate,
  kReleasePool,  // a graph or a MemPool is gone
  kEmptyPool,    // with it goes what its pool has cached
  kEmptyCache,
  kTakeOutside,  // memory beside the allocator
  kGiveBackOutside,
};

struct AllocatorRequest {
  uint64_t bytes = 0;
  uint32_t event = 0;   // of the trace
  uint32_t block = 0;   // number of the block, used again when its free is complete
  uint16_t stream = 0;  // index, like the pool's
  uint16_t pool = 0;
  RequestKind kind = RequestKind::kAlloc;
};
static_assert(sizeof(AllocatorRequest) == 24);

struct RequestTrace {
  std::vector<AllocatorRequest> requests;
  std::vector<RecordedSegment> segments;  // of the allocator, in order
  std::vector<uint64_t> streams;
  std::vector<PoolId> pools;  // [0]: the default pool
  uint32_t block_numbers = 0;
  uint64_t blocks_before = 0;  // lived before the first event
};

// PyTorch's pool_id of the events that have each of DeviceTrace::extras.
std::vector<PoolId> pools_of_extras(const DeviceTrace& trace);

// Throws UserError if the trace has more streams or pools than can be told apart (65,535).
RequestTrace requests_of(const DeviceTrace& trace);

}  // namespace vramscope
