// What happened on a device, event by event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "tools/model/intern.h"

namespace vramscope {

// PyTorch's names, in the order in which its allocator emits them.
enum class Action : uint8_t {
  kSegmentAlloc,   // memory taken from the driver
  kSegmentFree,    // and given back, whole
  kSegmentMap,     // a range of an expandable segment gets memory
  kSegmentUnmap,   // a range, maybe a part of what was mapped, loses it
  kAlloc,          // a block is handed out
  kFreeRequested,  // its owner gives it back
  kFreeCompleted,  // no stream uses it any more: it may be handed out again
  kOom,            // size: the failed request; address: the device's free bytes, 0 if unknown
  kSnapshot,       // someone looked; size: total active bytes
};
constexpr size_t kActionCount = 9;

const char* action_name(Action action);  // "segment_alloc"...

constexpr bool is_block_action(Action action) {
  return action >= Action::kAlloc && action <= Action::kFreeCompleted;
}

struct TraceEvent {
  Action action = Action::kSnapshot;
  // Memory that the process's caching allocator does not manage (NCCL's, say) although it has one.
  // It has its own segments and is no part of allocated and reserved bytes.
  bool outside = false;
  uint32_t thread = 0;  // thread id, 0 if unknown
  StackId stack = 0;
  StringId owner = 0;  // of a segment: the library that took it from the driver, if known
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested_bytes = 0;  // of a block action: what the block's size was rounded up from
  uint64_t stream = 0;
  int64_t time_us = 0;  // since the Unix epoch
  StringId category = 0;
  uint32_t extra = 0;  // index into DeviceTrace::extras
};

// The events of a trace, oldest first: like a std::vector<TraceEvent> whose elements are values.
//
// Traces of ten million events must fit into a gigabyte: what events seldom differ in (stream,
// thread, owner...) is stored once for each combination. Grows without copying what is there.
class TraceEvents {
 public:
  TraceEvents() = default;
  TraceEvents(std::initializer_list<TraceEvent> events);

  void push_back(const TraceEvent& event);
  void set(size_t index, const TraceEvent& event);

  size_t size() const { return packed_.size(); }
  bool empty() const { return packed_.empty(); }
  TraceEvent operator[](size_t index) const;
  TraceEvent at(size_t index) const;  // throws std::out_of_range
  TraceEvent front() const { return (*this)[0]; }
  TraceEvent back() const { return (*this)[size() - 1]; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = TraceEvent;
    using difference_type = ptrdiff_t;
    using pointer = void;
    using reference = TraceEvent;

    Iterator(const TraceEvents* events, size_t index) : events_(events), index_(index) {}
    TraceEvent operator*() const { return (*events_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const TraceEvents* events_;
    size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  struct Packed {
    uint64_t address;
    uint64_t size;
    uint64_t requested_bytes;
    int64_t time_us;
    StackId stack;
    uint32_t context;  // index into contexts_
  };
  static_assert(sizeof(Packed) == 40);

  struct Context {
    uint64_t stream;
    uint32_t thread;
    StringId owner;
    StringId category;
    uint32_t extra;
    Action action;
    bool outside;

    bool operator==(const Context&) const = default;
  };
  struct ContextHash {
    size_t operator()(const Context& context) const;
  };

  Packed pack(const TraceEvent& event);

  std::deque<Packed> packed_;
  std::vector<Context> contexts_;
  std::unordered_map<Context, uint32_t, ContextHash> context_ids_;
};

}  // namespace vramscope
