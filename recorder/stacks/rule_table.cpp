#include "recorder/stacks/rule_table.h"

#include <mutex>

namespace vramscope {

void RuleTable::insert(uint64_t address, UnwindRule rule, uint64_t unloads) {
  const std::lock_guard guard(lock_);
  const uint64_t held = unloads_.load(std::memory_order_relaxed);
  if (unloads < held) return;  // code has gone since it was looked up
  if (unloads > held || used_ == kMaxUsed) clear_locked(unloads);
  size_t i = first_index(address);
  for (;; i = (i + 1) % kEntries) {
    const uint64_t found = entries_[i].address.load(std::memory_order_relaxed);
    if (found == address) return;  // another thread was faster
    if (found == 0) break;
  }
  entries_[i].rule.store(rule, std::memory_order_relaxed);
  entries_[i].address.store(address, std::memory_order_release);
  ++used_;
}

void RuleTable::forget_after_fork() {
  lock_.unlock();
  const std::lock_guard guard(lock_);
  clear_locked(unloads_.load(std::memory_order_relaxed));
}

void RuleTable::clear_locked(uint64_t unloads) {
  version_.fetch_add(1, std::memory_order_relaxed);
  // A reader that sees anything of what follows sees the new version too.
  std::atomic_thread_fence(std::memory_order_release);
  for (Entry& entry : entries_) entry.address.store(0, std::memory_order_relaxed);
  unloads_.store(unloads, std::memory_order_release);
  used_ = 0;
}

}  // namespace vramscope
