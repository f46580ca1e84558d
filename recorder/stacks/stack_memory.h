// Memory for what is remembered about stacks: one region of fixed size for the process, so that it
// is bounded however long the job runs, in huge pages, because caches that are looked into once an
// event miss the TLB otherwise.
//
//   region:  | block | block | block | ...     16 KiB each, bitmap says which are taken
//               \_______ _______/
//                       run       -> StackArena -> StackArena's owner (a thread's cache)
//
// A thread's cache that gets no more memory forgets what it knows and starts anew: that costs time
// and definitions, and is otherwise harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vramscope {

constexpr size_t kStackMemoryBytes = 24 << 20;

// Allocates from runs of blocks that it takes from the region; gives all back at once. Belongs to
// one thread. Never throws.
class StackArena {
 public:
  static constexpr size_t kBlockBytes = 16 << 10;
  static constexpr size_t kLargestAllocation = 512 << 10;

  StackArena() = default;
  ~StackArena() { clear(); }
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;

  // Aligned to 16 bytes, not initialised, of at most kLargestAllocation. nullptr: this arena holds
  // as much as it may. An arena that holds nothing gets memory from elsewhere if the region is
  // full.
  void* allocate(size_t bytes);

  void clear();

  size_t held_bytes() const { return held_bytes_; }

 private:
  struct Run;

  bool add_run(size_t bytes);

  Run* newest_ = nullptr;
  std::byte* free_begin_ = nullptr;  // in the newest run
  std::byte* free_end_ = nullptr;
  size_t held_bytes_ = 0;
};

// The child of a fork: nothing is taken. Arenas of the parent's threads must not be used any more;
// clear() of one that was filled before the fork frees nothing.
void forget_stack_memory_after_fork();

}  // namespace vramscope
