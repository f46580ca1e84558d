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

#include "recorder/stacks/interned_stacks.h"
#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/trace_index.h"

namespace vramscope {

// Programs repeat themselves: after a stack comes the one that followed it the last time. That one
// is compared first; only if it is another one it is looked for by its innermost frames.
//
//   trace --next--> trace --next--> trace
//   last_           predicted_

// Belongs to one thread.
class PythonTraceCache {
 public:
  struct alignas(16) Trace {
    const void* innermost;
    size_t count;
    Trace* next;  // what followed it the last time; nullptr: nothing yet
    InternedStacks::Stack* stack;
    uint64_t deaths;  // python_code_deaths when all its code objects were last seen to live
    uint32_t id;

    bool is_found_at(const PythonLayout& layout, const void* frame) const {
      return innermost == frame && frames_are_unchanged(layout, frame, frames());
    }
    std::span<const PythonFrameState> frames() const {
      return {reinterpret_cast<const PythonFrameState*>(this + 1), count};
    }
  };

  // The stack that begins with the frame `frame`; nullptr if it is not known. Whether its code
  // objects still live is not looked at.
  Trace* find(const PythonLayout& layout, const void* frame) {
    if (layout.frame_owner == kAbsent) return nullptr;
    Trace* trace = predicted_;
    if (trace == nullptr || !trace->is_found_at(layout, frame)) [[unlikely]] {
      trace = find_by_key(layout, frame);
      if (trace == nullptr) return nullptr;
      note_successor(trace);
    }
    last_ = trace;
    predicted_ = trace->next;
    return trace;
  }

  // Right after find() returned nullptr for this frame. `stack` must stay where it is until
  // clear(). `deaths`: see Trace.
  void remember(const void* innermost, std::span<const PythonFrameState> frames,
                InternedStacks::Stack* stack, uint64_t deaths);

  void clear() {
    memory_.clear();
    index_.clear();
    last_ = predicted_ = nullptr;
  }

 private:
  // Of the innermost frames, of which few programs have two sets.
  static uint64_t key_of(const PythonLayout& layout, const void* innermost);

  [[gnu::noinline]] Trace* find_by_key(const PythonLayout& layout, const void* frame);
  void note_successor(Trace* trace) {
    if (last_ != nullptr) last_->next = trace;
  }

  Trace* predicted_ = nullptr;
  Trace* last_ = nullptr;
  StackArena memory_;
  TraceIndex index_;
  uint64_t key_ = 0;  // of the last find_by_key()
};

}  // namespace vramscope
