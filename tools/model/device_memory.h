// A device as its driver sees it: what it has, what is taken, what is free.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/model/heap.h"
#include "tools/model/recording.h"

namespace vramscope {

// Of one moment. What the recording does not tell is absent.
struct DeviceMemory {
  std::optional<uint64_t> capacity_bytes;
  uint64_t known_bytes = 0;  // taken by the process, as far as its calls tell
  // The rest of what is taken: contexts, code, memory of other processes. Known from the free bytes
  // that a refused call found, and taken to be the same at other moments.
  std::optional<uint64_t> other_bytes;
  std::optional<uint64_t> free_bytes;
};

// After the first `events` events of the trace, where the heap has `counters`.
DeviceMemory device_memory(const ProcessRecording& process, const DeviceTrace& trace, size_t events,
                           const HeapCounters& counters);

}  // namespace vramscope
