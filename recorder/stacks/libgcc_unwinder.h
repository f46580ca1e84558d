// The unwinder that C++ exceptions use: libgcc_s of the process, or the copy linked into this
// library. The reference for our own walk, and what walks the stacks that it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/stacks/stack_capture.h"

namespace vramscope {

struct NativeWalk {
  size_t count = 0;
  // The chain goes on, or the unwinder lost it: it did not come to the caller of the hook, of which
  // then only site.program_counter is known.
  bool truncated = false;
};

// By _Unwind_Backtrace. Return addresses, innermost first, from site.program_counter on: frames of
// ours, which lie below it, are left out. Where a signal interrupted a frame, its entry is the
// interrupted instruction + 1: so `address - 1` lies in the right line for every entry. About 95 ns
// a frame; allocates nothing after the first call; with glibc before 2.35 it takes the loader's
// lock.
NativeWalk walk_by_libgcc(const CallSite& site, std::span<uint64_t> return_addresses);

struct FunctionDescription {
  const uint8_t* fde = nullptr;  // for read_frame_description(); nullptr: the function has none
  uint64_t function = 0;
};

// By _Unwind_Find_FDE: sees loaded objects, and JIT code that was registered (__register_frame).
// With gcc before 13 it takes a lock of libgcc's while any JIT code is registered.
FunctionDescription find_function_description(uint64_t address);

// Whether the unwinder can be led to this return address: where it finds no description it looks
// at the instructions there.
bool is_readable_code(uint64_t return_address);

}  // namespace vramscope
