// What all threads of the process share about stacks, in one place: counters of ids and the epoch.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope {

struct StackIds {
  std::atomic<uint32_t> last_python_stack{0};
  std::atomic<uint32_t> last_native_stack{0};
  std::atomic<uint32_t> last_module{0};
  // Counts forks: what was remembered in an earlier epoch was defined to another process's readers.
  std::atomic<uint32_t> epoch{0};
};
inline constinit StackIds stack_ids{};

// Unique in the process; 0 is never given.
inline uint32_t next_id(std::atomic<uint32_t>& last) {
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace vramscope
