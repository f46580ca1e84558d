// Frees that a stream delays: the framework tells how many bytes of a device wait, not which
// blocks.
//
//   given back, and as many bytes more wait     -> this block waits: free_requested
//   fewer bytes wait before the next event      -> the oldest that wait are done: free_completed
//   a block is handed out where one waits,
//   or its segment goes                         -> that one is done
//
// Exact where blocks are done in the order in which they were given back, as a stream does them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "tools/model/trace_builder.h"

namespace vramscope {

class PendingFrees {
 public:
  // `builder` writes the device's trace and outlives this.
  explicit PendingFrees(TraceBuilder& builder) : builder_(builder) {}
  PendingFrees(const PendingFrees&) = delete;

  // After the next block event so many bytes wait.
  void tell(uint64_t bytes) { told_bytes_ = bytes; }

  // Before the builder's function of that name.
  void alloc(const TraceEvent& block);
  void segment_goes(const TraceEvent& segment) { complete_in(segment, segment); }
  void oom(const TraceEvent& event) { complete_oldest(event); }

  // Instead of the builder's free().
  void give_back(const TraceEvent& event);

 private:
  struct Waiting {
    uint64_t size;
    TraceEvent cause;  // who gave it back
  };

  void complete_in(const TraceEvent& range, const TraceEvent& now);
  void complete_oldest(const TraceEvent& now);
  std::deque<Waiting>::iterator complete(const std::deque<Waiting>::iterator& block,
                                         const TraceEvent& now);

  TraceBuilder& builder_;
  std::optional<uint64_t> told_bytes_;
  std::deque<Waiting> waiting_;  // oldest first
  uint64_t waiting_bytes_ = 0;
};

}  // namespace vramscope
