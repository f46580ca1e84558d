// The events of a trace, oldest first: like a std::vector<TraceEvent> whose elements are values.
//
// Traces of ten million events must fit into a gigabyte. What few events differ in (stream, thread,
// owner...) is stored once for each combination:
//
//   TraceEvent (64 bytes) -> Packed (40 bytes) + index of a Context
//
// Grows without copying what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "tools/model/trace_event.h"

namespace vramscope {

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
