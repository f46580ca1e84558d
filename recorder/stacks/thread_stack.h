// Where the calling thread's stack lies: from its stack pointer up to `high` memory is mapped.
#pragma once

#include <cstdint>

namespace vramscope {

struct ThreadStack {
  uint64_t low = 0;
  uint64_t high = 0;  // both 0: not known; then nothing lies in it

  bool contains(uint64_t address) const { return address >= low && address < high; }

  // Reads /proc/self/maps in the main thread, and may allocate.
  static ThreadStack of_calling_thread();
};

}  // namespace vramscope
