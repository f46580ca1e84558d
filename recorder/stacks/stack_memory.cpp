#include "recorder/stacks/stack_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstdlib>
#include <mutex>

#include "recorder/stacks/spin_lock.h"
#include "recorder/stacks/stack_ids.h"

namespace vramscope {
namespace {

constexpr size_t kBlocks = kStackMemoryBytes / StackArena::kBlockBytes;
constexpr size_t kHugePageBytes = 2 << 20;
// Kept for arenas that have nothing yet.
constexpr size_t kReservedBlocks = kBlocks / 8;

// Reserves address space only: pages come when they are touched. nullptr: none to be had.
std::byte* map_region() {
  void* mapped = mmap(nullptr, kStackMemoryBytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  auto* region =
      reinterpret_cast<std::byte*>((address + kHugePageBytes - 1) & ~(kHugePageBytes - 1));
  madvise(region, kStackMemoryBytes, MADV_HUGEPAGE);
  return region;
}

// Lock order: the lock is a leaf.
class Region {
 public:
  constexpr Region() = default;

  // `held_blocks`: what the asking arena has. It may hold as much as is free, so that whoever comes
  // late finds something.
  std::byte* take(size_t blocks, size_t held_blocks) {
    std::byte* region = mapped_region();
    if (region == nullptr) return nullptr;
    const std::lock_guard guard(lock_);
    const size_t kept = held_blocks == 0 ? 0 : kReservedBlocks + held_blocks;
    if (kBlocks - used_ < kept + blocks) return nullptr;
    const size_t first = find_free_locked(blocks);
    if (first == kBlocks) return nullptr;
    mark_locked(first, blocks, true);
    return region + first * StackArena::kBlockBytes;
  }

  // False: it did not come from here.
  bool give_back(std::byte* run, size_t blocks) {
    const std::byte* region = region_.load(std::memory_order_relaxed);
    if (region == nullptr || run < region || run >= region + kStackMemoryBytes) return false;
    const std::lock_guard guard(lock_);
    mark_locked(static_cast<size_t>(run - region) / StackArena::kBlockBytes, blocks, false);
    return true;
  }

  void forget() {
    lock_.unlock();
    const std::lock_guard guard(lock_);
    taken_.reset();
    used_ = 0;
  }

 private:
  std::byte* mapped_region() {
    std::byte* region = region_.load(std::memory_order_acquire);
    if (region != nullptr) return region;
    std::byte* mapped = map_region();  // a second one, of a race, stays: untouched address space
    if (mapped == nullptr) return nullptr;
    return region_.compare_exchange_strong(region, mapped) ? mapped : region;
  }

  size_t find_free_locked(size_t blocks) const {
    size_t length = 0;
    for (size_t i = 0; i < kBlocks; ++i) {
      length = taken_[i] ? 0 : length + 1;
      if (length == blocks) return i + 1 - blocks;
    }
    return kBlocks;
  }

  void mark_locked(size_t first, size_t blocks, bool is_taken) {
    for (size_t i = first; i < first + blocks; ++i) taken_[i] = is_taken;
    used_ = is_taken ? used_ + blocks : used_ - blocks;
  }

  std::atomic<std::byte*> region_{nullptr};
  SpinLock lock_;
  std::bitset<kBlocks> taken_;
  size_t used_ = 0;
};
constinit Region the_region;

}  // namespace

struct alignas(16) StackArena::Run {
  Run* older;
  size_t bytes;
  uint32_t epoch;  // of stack_ids: runs from before a fork are not given back
};

void* StackArena::allocate(size_t bytes) {
  const size_t rounded = (bytes + 15) & ~size_t{15};
  if (static_cast<size_t>(free_end_ - free_begin_) < rounded && !add_run(rounded)) return nullptr;
  void* memory = free_begin_;
  free_begin_ += rounded;
  return memory;
}

bool StackArena::add_run(size_t bytes) {
  if (bytes > kLargestAllocation) return false;
  // Doubles, so that runs stay few.
  const size_t wanted = std::max(bytes + sizeof(Run), std::min(held_bytes_, kLargestAllocation));
  const size_t blocks = (wanted + kBlockBytes - 1) / kBlockBytes;
  std::byte* memory = the_region.take(blocks, held_bytes_ / kBlockBytes);
  if (memory == nullptr && held_bytes_ == 0) {
    memory = static_cast<std::byte*>(std::aligned_alloc(alignof(Run), blocks * kBlockBytes));
  }
  if (memory == nullptr) return false;
  const size_t run_bytes = blocks * kBlockBytes;
  newest_ = new (memory) Run{newest_, run_bytes, stack_ids.epoch.load(std::memory_order_relaxed)};
  held_bytes_ += run_bytes;
  free_begin_ = memory + sizeof(Run);
  free_end_ = memory + run_bytes;
  return true;
}

void StackArena::clear() {
  const uint32_t epoch = stack_ids.epoch.load(std::memory_order_relaxed);
  while (newest_ != nullptr) {
    Run* run = newest_;
    newest_ = run->older;
    const bool is_of_this_process = run->epoch == epoch;
    if (!is_of_this_process) continue;
    auto* memory = reinterpret_cast<std::byte*>(run);
    if (!the_region.give_back(memory, run->bytes / kBlockBytes)) std::free(memory);
  }
  free_begin_ = free_end_ = nullptr;
  held_bytes_ = 0;
}

void forget_stack_memory_after_fork() { the_region.forget(); }

}  // namespace vramscope
