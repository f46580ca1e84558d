// Ids for the Python stacks of one thread.
//
//   walk -> frame keys -> table_: known? --yes--> its code objects still the same? -> id
//                              `--no--> define codes and stack -> remember -> id
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/definition_sink.h"
#include "recorder/stacks/python_codes.h"
#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/python_runtime.h"
#include "recorder/stacks/stack_table.h"

namespace vramscope {

// Belongs to one thread. May throw std::bad_alloc for a stack that it has not seen before.
class PythonStacks {
 public:
  uint32_t capture(DefinitionSink& sink);
  void forget() { table_.clear(); }

 private:
  uint32_t define(const PythonLayout& layout, std::span<const PythonFrameKey> keys, bool truncated,
                  DefinitionSink& sink);
  bool is_current(StackTable::Stack& stack) const;

  static constexpr size_t kTableLimitBytes = 32 << 20;

  StackTable table_{kTableLimitBytes};
  // Notes of a stack: how many code objects had died when it was last found right, then one
  // PythonCode and its id per frame.
  std::vector<uint64_t> notes_;
  std::vector<PythonFrame> frames_;
  PythonFrameKey keys_[kMaxPythonFrames];  // not initialised: most of it is never touched
};

}  // namespace vramscope
