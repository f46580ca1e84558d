// Why a request found no memory: what was there at that moment, and what that says.
//
// Everything is read off the heap when the request failed. Rules are tried in the order of
// OomVerdict; the first that the figures prove holds. Where a figure that decides is not in the
// recording, the confidence says so, and nothing is guessed: `undecided` is a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/model/heap.h"
#include "tools/model/recording.h"

namespace vramscope {

enum class OomVerdict : uint8_t {
  kImpossibleSize,    // more than the device has
  kOversubscribed,    // more is taken than the device has (WDDM, WSL)
  kStarvedByCache,    // another library asked the driver; the framework's cache held enough
  kLimitOrRefusal,    // enough was free: a limit of the program's, or a refusal of the driver's
  kPendingFree,       // enough was given back, but a stream still used it
  kPrivatePool,       // enough is free in a pool that the request must not use
  kFragmentation,     // enough is free in all, but not in one piece
  kOutsideAllocator,  // taken by others: other libraries, contexts, other processes
  kCapacity,          // the live blocks and the request do not fit the device
  kUndecided,
};

const char* oom_verdict_name(OomVerdict verdict);  // "impossible_size"...

enum class Confidence : uint8_t { kLow, kMedium, kHigh };

const char* confidence_name(Confidence confidence);

// Live blocks of one stack that keep segments from being given back.
struct PinnedBy {
  StackId stack = 0;
  uint64_t bytes = 0;        // free in those segments
  uint64_t blocks = 0;       // of the stack
  uint64_t block_bytes = 0;  // all of them
};

struct OwnerBytes {
  std::string owner;
  uint64_t bytes = 0;
};

struct OutOfMemory {
  int device = 0;
  size_t event = 0;  // of the trace
  uint64_t requested_bytes = 0;
  std::optional<uint64_t> capacity_bytes;  // of the device
  std::optional<uint64_t> free_bytes;
  std::optional<uint64_t> other_bytes;  // contexts, code, other processes
  uint64_t reserved_bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t cached_bytes = 0;              // reserved, neither allocated nor pending
  uint64_t releasable_bytes = 0;          // of those in segments without a live block
  uint64_t largest_free_block_bytes = 0;  // in the request's pool (small, large) and stream
  uint64_t pending_free_bytes = 0;
  uint64_t private_pool_bytes = 0;  // free, in pools that the request must not use
  std::vector<OwnerBytes> outside;  // taken from the driver beside the caching allocator
  std::string asked_by;             // the library, where it is not the framework
  uint64_t refusals = 0;            // by the driver, for this request
  bool is_final = false;            // nothing was allocated after it; else the program recovered
  OomVerdict verdict = OomVerdict::kUndecided;
  Confidence confidence = Confidence::kLow;
  std::vector<std::string> because;
  std::vector<std::string> advice;  // advice.h; empty: nothing is proven
  std::vector<PinnedBy> pinned_by;  // most bytes first
  int64_t time_us = 0;
  StackId stack = 0;
};

// Of the `oom` event number `event` of the trace; `heap` is the state there. `is_final` is the
// caller's to set.
OutOfMemory explain_out_of_memory(const ProcessRecording& process, const DeviceTrace& trace,
                                  size_t event, const Heap& heap);

}  // namespace vramscope
