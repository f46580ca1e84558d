// A lock for short sections that call nothing: no allocation, no Python, no loader.
#pragma once

#include <sched.h>

#include <atomic>

namespace vramscope {

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

}  // namespace vramscope
