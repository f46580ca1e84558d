// Native stacks that were walked before, found again by comparing the words that the walk read.
//
// If a walk begins with the same registers and every word that its rules read is the same, then
// each of its steps has the same outcome: the whole stack is the same. That is exact, and it costs
// less than a nanosecond a word.
//
//   key = hash(program counter, stack pointer, hint)
//     |
//   entry: trace                         the words are compared
//     or   probe: offset of a word       two traces with this key differ in this word:
//     |                                  go on with key' = hash(key, word)
//   entry: trace, or probe, ...
//
// Where a comparison fails, the entry becomes a probe of the word that differed, and both traces
// move behind it: a decision tree, which holds the words in which the program's stacks differ.
// Probes only choose what to compare; nothing is believed because of a hash.
//
// Programs repeat themselves: before all that, the trace is compared that followed the last one
// the last time (Trace::next).
#pragma once

#include <cstdint>
#include <span>

#include "recorder/stacks/frame_walk.h"
#include "recorder/stacks/stack_memory.h"
#include "recorder/stacks/trace_index.h"

namespace vramscope {

// Belongs to one thread.
class TraceCache {
 public:
  explicit TraceCache(const ThreadStack& stack) : stack_(stack) {}

  // The id of the stack at `site`, 0 if it is not known. `hint`: anything that tends to differ
  // between stacks. `unloads`: code_unloads now.
  uint32_t find(const CallSite& site, uint64_t hint, uint64_t unloads);

  // Right after find() returned 0 for the same site: what the walk of this stack has read.
  void remember(const CallSite& site, std::span<const FrameReads> reads, uint32_t id,
                uint64_t unloads);

  void clear();

  const ThreadStack& stack() const { return stack_; }

 private:
  struct Trace;

  // Where a search ended.
  struct Miss {
    uint64_t key = 0;
    Trace* refuted = nullptr;  // a trace with this key of which a word differs
    uint32_t slot = 0;         // that word
  };

  static constexpr int kMaxProbes = 24;

  [[gnu::noinline]] Trace* find_by_key(const CallSite& site, uint64_t hint, uint64_t unloads);
  void note_successor(Trace* trace);
  Trace* make_trace(const CallSite& site, std::span<const FrameReads> reads, uint32_t id,
                    uint64_t unloads);

  Trace* predicted_ = nullptr;
  Trace* last_ = nullptr;
  const ThreadStack stack_;
  StackArena memory_;
  // Targets: a Trace's address, or 1 | the offset of the probed word from the stack pointer.
  TraceIndex index_;
  Miss miss_;
};

}  // namespace vramscope
