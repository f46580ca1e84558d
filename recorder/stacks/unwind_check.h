// Counts of --verify-unwind: native stacks that were compared with _Unwind_Backtrace.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope {

// In shared memory: any process may read it at any time.
struct UnwindCheck {
  std::atomic<uint64_t> compared;
  std::atomic<uint64_t> different;
  // Not compared: _Unwind_Backtrace had walked them itself, or would not survive to.
  std::atomic<uint64_t> by_libgcc;
};
static_assert(sizeof(UnwindCheck) == 24);

}  // namespace vramscope
