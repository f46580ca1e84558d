// Ids for the native stacks of one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/definition_sink.h"
#include "recorder/stacks/module_map.h"
#include "recorder/stacks/stack_table.h"
#include "recorder/stacks/unwinder.h"

namespace vramscope {

// Belongs to one thread. May throw std::bad_alloc for a stack that it has not seen before.
class NativeStacks {
 public:
  uint32_t capture(const CallSite& site, DefinitionSink& sink);
  void forget() {
    table_.clear();
    modules_.forget();
  }

 private:
  uint32_t define(std::span<const uint64_t> addresses, bool truncated, DefinitionSink& sink);
  bool is_current(StackTable::Stack& stack) const;

  static constexpr size_t kTableLimitBytes = 32 << 20;

  StackTable table_{kTableLimitBytes};
  ModuleMap modules_;
  std::vector<uint64_t> notes_;           // of a stack: indexes of the modules that it lies in
  uint64_t addresses_[kMaxNativeFrames];  // not initialised: most of it is never touched
};

}  // namespace vramscope
