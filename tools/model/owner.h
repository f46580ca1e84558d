// Who took memory from the driver: the first library in a native stack that does not merely pass
// the call on, as the CUDA runtime does.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recorder/session.h"

namespace vramscope {

struct Owner {
  std::string name;  // "PyTorch", "NCCL", "libfoo.so"...; empty: not known
  // The library holds a framework's caching allocator: what it takes from the driver are segments.
  bool is_caching_allocator = false;
};

// By a library's file name: "libnccl.so.2" -> "NCCL". `executable`: the main program's path.
Owner owner_of_module(std::string_view path, std::string_view executable);

// True for the driver, the runtime, the loader, the profiler and Python's ctypes: whoever called
// them is the owner.
bool is_transparent_module(std::string_view path);

// Owners of a session's events, each native stack looked at once.
class StackOwners {
 public:
  explicit StackOwners(const Session& session);

  const Owner& of(uint32_t native_stack);

 private:
  const Session& session_;
  std::vector<Owner> module_owners_;
  std::vector<bool> is_transparent_;
  std::unordered_map<uint32_t, uint32_t> module_of_stack_;
  const Owner unknown_;
};

}  // namespace vramscope
