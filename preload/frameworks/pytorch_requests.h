// What PyTorch was asked for: its hook tells the size of a block, which is the request rounded up,
// or a whole segment's rest; the request itself only passes through the allocator's statistics.
//
//   c10::cuda::CUDACachingAllocator::allocator -> NativeCachingAllocator
//     -> device_allocator[device] -> DeviceCachingAllocator
//       -> DeviceStats: allocation ... allocated_bytes, reserved_bytes, ... requested_bytes
//
// DeviceStats (c10/core/CachingDeviceAllocator.h, PyTorch 2.4 to 2.15) is a row of counters. None
// of these classes' layouts is relied upon: at a device's first block every counter is known, so
// the row is recognised by its content. Where it is not found, requests are unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace vramscope {

// `allocator`: the exported variable, null if there is none (yet). To be told before the first
// block.
void follow_requests_of(const void* const* allocator);

struct AllocatedBlock {
  int device = 0;
  uint64_t block_bytes = 0;
  uint64_t total_reserved = 0;  // after it
};

// The request that `block` answers, 0 if unknown. To be called exactly once for each block of the
// native allocator, in its order, under its mutex of the device, which is what guards our state.
// The first call of a device searches; the others read two words.
uint64_t requested_bytes(const AllocatedBlock& block);

// Bytes of the device's blocks that were given back and that a stream still uses, where they have
// changed since the last call. To be called under the mutex too, after an event of the device.
std::optional<uint64_t> changed_pending_bytes(int device);

}  // namespace vramscope
