// Python stacks that were walked before, found again by comparing the frames in place.
//
// If the innermost frame has the same address, and every frame of the chain has the same
// predecessor, position and owner as when it was walked, and all its code objects still live, then
// a walk would find the same stack. Each frame is known to be alive before it is read: it is the
// thread's innermost one, or a living frame has just named it as its predecessor. For 3.11 and
// later; the walk of older versions gives no states.
#pragma once

#include <cstdint>
#include <span>

#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/stack_table.h"
#include "recorder/stacks/trace_index.h"

namespace vramscope {

// Belongs to one thread.
class PythonTraceCache {
 public:
  // The stack that begins with the frame `innermost`; nullptr if it is not known. Whether its code
  // objects still live is not looked at.
  StackTable::Stack* find(const PythonLayout& layout, const void* innermost) {
    if (layout.frame_owner == kAbsent) return nullptr;
    key_ = key_of(layout, innermost);
    const TraceIndex::Entry* entry = index_.find(key_);
    if (entry == nullptr) return nullptr;
    const auto* trace = reinterpret_cast<const Trace*>(entry->target);
    return trace->innermost == innermost && frames_are_unchanged(layout, innermost, trace->frames())
               ? trace->stack
               : nullptr;
  }

  // Right after find() returned nullptr for this frame. `stack` must stay where it is until
  // clear().
  void remember(const void* innermost, std::span<const PythonFrameState> frames,
                StackTable::Stack* stack);

  void clear() {
    memory_.clear();
    index_.clear();
  }

 private:
  struct alignas(16) Trace {
    const void* innermost;
    StackTable::Stack* stack;
    size_t count;

    std::span<const PythonFrameState> frames() const {
      return {reinterpret_cast<const PythonFrameState*>(this + 1), count};
    }
  };

  // Of the innermost frames, of which few programs have two sets.
  static uint64_t key_of(const PythonLayout& layout, const void* innermost);

  StackArena memory_;
  TraceIndex index_;
  uint64_t key_ = 0;  // of the last find()
};

}  // namespace vramscope
