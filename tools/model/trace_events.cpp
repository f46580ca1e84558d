#include "tools/model/trace_events.h"

#include <stdexcept>

namespace vramscope {

const char* action_name(Action action) {
  static constexpr const char* kNames[kActionCount] = {
      "segment_alloc",  "segment_free",   "segment_map", "segment_unmap", "alloc",
      "free_requested", "free_completed", "oom",         "snapshot"};
  return kNames[static_cast<size_t>(action)];
}

TraceEvents::TraceEvents(std::initializer_list<TraceEvent> events) {
  for (const TraceEvent& event : events) push_back(event);
}

void TraceEvents::push_back(const TraceEvent& event) { packed_.push_back(pack(event)); }

void TraceEvents::set(size_t index, const TraceEvent& event) { packed_.at(index) = pack(event); }

TraceEvent TraceEvents::operator[](size_t index) const {
  const Packed& packed = packed_[index];
  const Context& context = contexts_[packed.context];
  return {.action = context.action,
          .outside = context.outside,
          .thread = context.thread,
          .stack = packed.stack,
          .owner = context.owner,
          .address = packed.address,
          .size = packed.size,
          .requested_bytes = packed.requested_bytes,
          .stream = context.stream,
          .time_us = packed.time_us,
          .category = context.category,
          .extra = context.extra};
}

TraceEvent TraceEvents::at(size_t index) const {
  if (index >= size()) throw std::out_of_range("TraceEvents::at");
  return (*this)[index];
}

TraceEvents::Packed TraceEvents::pack(const TraceEvent& event) {
  const Context context{event.stream, event.thread, event.owner,  event.category,
                        event.extra,  event.action, event.outside};
  const auto next = static_cast<uint32_t>(contexts_.size());
  const auto [known, added] = context_ids_.try_emplace(context, next);
  if (added) contexts_.push_back(context);
  return {event.address, event.size,  event.requested_bytes,
          event.time_us, event.stack, known->second};
}

size_t TraceEvents::ContextHash::operator()(const Context& context) const {
  uint64_t hash = 0;
  for (const uint64_t value :
       {context.stream, uint64_t{context.thread} << 32 | context.owner,
        uint64_t{context.category} << 32 | context.extra,
        static_cast<uint64_t>(context.action) << 1 | static_cast<uint64_t>(context.outside)}) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace vramscope
