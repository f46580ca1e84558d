#include "tools/model/device_memory.h"

namespace vramscope {
namespace {

uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// The last failed request until then that told the free bytes; else the first one after it.
const FailedRequest* nearest_failure(const ProcessRecording& process, int device, size_t events) {
  const FailedRequest* nearest = nullptr;
  for (const FailedRequest& failure : process.failed_requests) {
    if (failure.device != device || !failure.free_bytes) continue;
    if (failure.event >= events && nearest != nullptr) break;
    nearest = &failure;
  }
  return nearest;
}

}  // namespace

DeviceMemory device_memory(const ProcessRecording& process, const DeviceTrace& trace, size_t events,
                           const HeapCounters& counters) {
  DeviceMemory memory;
  memory.known_bytes = counters.reserved_bytes + counters.outside_bytes;
  if (trace.capacity_bytes == 0) return memory;
  memory.capacity_bytes = trace.capacity_bytes;
  const FailedRequest* failure = nearest_failure(process, trace.device, events);
  if (failure == nullptr) return memory;
  memory.other_bytes =
      difference(trace.capacity_bytes, *failure->free_bytes + failure->known_bytes);
  memory.free_bytes = difference(trace.capacity_bytes, memory.known_bytes + *memory.other_bytes);
  return memory;
}

}  // namespace vramscope
