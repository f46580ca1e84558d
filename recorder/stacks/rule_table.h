// Return address -> rule to its caller, for the whole process: a hash table of fixed size.
//
//   entries[hash(address)...]:  | address | rule |  | address | rule |  |    0    |      |
//
// Reading takes no lock. Writing (once for each return address) takes a spin lock, a leaf under
// which nothing is called. A full table, or one from before code was unloaded, is emptied; whoever
// reads meanwhile sees the version change and finds nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "recorder/stacks/spin_lock.h"
#include "recorder/stacks/unwind_rule.h"

namespace vramscope {

class RuleTable {
 public:
  static constexpr size_t kEntries = 1 << 16;

  constexpr RuleTable() = default;

  // Kind::kNone if it is not there. `unloads`: code_unloads now.
  UnwindRule find(uint64_t address, uint64_t unloads) const {
    const uint64_t version = version_.load(std::memory_order_acquire);
    if (unloads_.load(std::memory_order_relaxed) != unloads) return {};
    for (size_t i = first_index(address);; i = (i + 1) % kEntries) {
      const uint64_t found = entries_[i].address.load(std::memory_order_acquire);
      if (found == 0) return {};
      if (found != address) continue;
      const UnwindRule rule = entries_[i].rule.load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      return version_.load(std::memory_order_relaxed) == version ? rule : UnwindRule{};
    }
  }

  // `unloads`: code_unloads before the rule was looked up.
  void insert(uint64_t address, UnwindRule rule, uint64_t unloads);

  // The child of a fork: the lock may have been held by a thread that is gone.
  void forget_after_fork();

 private:
  // At least a quarter stays empty, so that every search ends soon.
  static constexpr size_t kMaxUsed = kEntries / 4 * 3;

  struct Entry {
    std::atomic<uint64_t> address{0};  // 0: empty, as are all behind it that belong here
    std::atomic<UnwindRule> rule{UnwindRule{}};
  };
  static_assert(std::atomic<UnwindRule>::is_always_lock_free);

  static size_t first_index(uint64_t address) {
    constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return (address * kGoldenRatio) >> 48;
  }
  static_assert(kEntries == 1 << 16);

  void clear_locked(uint64_t unloads);

  std::atomic<uint64_t> version_{0};
  std::atomic<uint64_t> unloads_{0};  // what all entries are from
  SpinLock lock_;
  size_t used_ = 0;
  std::array<Entry, kEntries> entries_{};
};

}  // namespace vramscope
