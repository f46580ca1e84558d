#include "tools/formats/snapshot_writer.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <vector>

#include "tools/formats/pickle_writer.h"
#include "tools/model/heap.h"

namespace vramscope {
namespace {

constexpr uint32_t kNotWritten = UINT32_MAX;

// Frames and stacks are written once and shared; events, blocks and segments never are: the viewer
// changes them in place.
class SnapshotPickle {
 public:
  SnapshotPickle(const ProcessRecording& process, std::ostream& out)
      : process_(process),
        pickle_(out),
        frame_ids_(process.stacks.frame_count(), kNotWritten),
        stack_ids_(process.stacks.stack_count(), kNotWritten) {}

  void write() {
    pickle_.dict([this] {
      pickle_.text("segments");
      write_segments();
      pickle_.text("device_traces");
      write_traces();
      pickle_.text("allocator_settings");
      write_settings();
      pickle_.text("external_annotations");
      pickle_.list(process_.annotations.size(),
                   [this](size_t i) { write_annotation(process_.annotations[i]); });
    });
    pickle_.finish();
  }

 private:
  void field(std::string_view key, int64_t value) {
    pickle_.text(key);
    pickle_.integer(value);
  }
  void field(std::string_view key, uint64_t value) { field(key, static_cast<int64_t>(value)); }
  void field(std::string_view key, std::string_view value) {
    pickle_.text(key);
    pickle_.text(value);
  }
  void field(std::string_view key, const char* value) { field(key, std::string_view(value)); }

  void write_segments() {
    std::vector<HeapLayout> computed(process_.devices.size());
    std::vector<std::pair<const DeviceTrace*, const HeapLayout*>> layouts;
    std::vector<std::pair<size_t, const Segment*>> segments;
    for (size_t i = 0; i < process_.devices.size(); ++i) {
      const DeviceTrace& trace = process_.devices[i];
      if (!trace.final_layout) computed[i] = layout_at_end(trace);
      layouts.emplace_back(&trace, trace.final_layout ? &*trace.final_layout : &computed[i]);
      for (const Segment& segment : layouts.back().second->segments)
        segments.emplace_back(i, &segment);
    }
    pickle_.list(segments.size(), [&](size_t i) {
      const auto& [trace, layout] = layouts[segments[i].first];
      write_segment(*segments[i].second, *layout, trace->device);
    });
  }

  static HeapLayout layout_at_end(const DeviceTrace& trace) {
    Heap heap(trace);
    for (const TraceEvent event : trace.events) heap.apply(event);
    return heap.layout();
  }

  void write_segment(const Segment& segment, const HeapLayout& layout, int device) {
    uint64_t allocated = 0, active = 0, requested = 0;
    for (size_t i = 0; i < segment.block_count; ++i) {
      const Block& block = layout.blocks[segment.first_block + i];
      if (block.state == BlockState::kActive) allocated += block.size;
      if (block.state != BlockState::kInactive) {
        active += block.size;
        requested += block.requested_bytes;
      }
    }
    pickle_.dict([&] {
      field("device", int64_t{device});
      field("address", segment.address);
      field("total_size", segment.size);
      field("allocated_size", allocated);
      field("active_size", active);
      field("requested_size", requested);
      field("stream", segment.stream);
      field("segment_type", segment.is_large ? "large" : "small");
      pickle_.text("segment_pool_id");
      pickle_.tuple([&] {
        for (const int64_t id : segment.pool) pickle_.integer(id);
      });
      pickle_.text("is_expandable");
      pickle_.boolean(segment.is_expandable);
      write_frames(segment.stack);
      pickle_.text("blocks");
      pickle_.list(segment.block_count,
                   [&](size_t i) { write_block(layout.blocks[segment.first_block + i]); });
    });
  }

  void write_block(const Block& block) {
    pickle_.dict([&] {
      field("address", block.address);
      field("size", block.size);
      field("requested_size", block.requested_bytes);
      field("state", block_state_name(block.state));
      write_frames(block.stack);
    });
  }

  // The outer list's index is the device's ordinal, and an empty outer list breaks the viewer.
  void write_traces() {
    size_t count = 1;
    for (const DeviceTrace& trace : process_.devices)
      count = std::max(count, static_cast<size_t>(trace.device) + 1);
    std::vector<const DeviceTrace*> by_ordinal(count);
    for (const DeviceTrace& trace : process_.devices)
      by_ordinal[static_cast<size_t>(trace.device)] = &trace;
    const bool marks_end = needs_second_stream();
    pickle_.list(count, [&](size_t device) {
      const DeviceTrace* trace = by_ordinal[device];
      const size_t events = trace == nullptr ? 0 : trace->events.size();
      pickle_.list(events == 0 ? 0 : events + marks_end, [&](size_t i) {
        write_event(i < events ? trace->events[i] : end_mark(*trace), *trace);
      });
    });
  }

  // The viewer (2.6) forgets the events' streams if all are one, but not the segments', and then
  // takes ranges of one stream for ranges of two: the history of a trace that unmaps any breaks.
  // PyTorch's own snapshots have it too, and are written as they were read.
  bool needs_second_stream() const {
    bool unmaps = false;
    std::optional<uint64_t> stream;
    for (const DeviceTrace& trace : process_.devices) {
      if (trace.final_layout) return false;
      for (const TraceEvent event : trace.events) {
        if (event.stream != stream.value_or(event.stream)) return false;
        stream = event.stream;
        unmaps |= event.action == Action::kSegmentUnmap;
      }
    }
    return unmaps;
  }

  // What PyTorch records when a snapshot is taken: a line of the history that changes nothing. On
  // a stream of its own.
  static TraceEvent end_mark(const DeviceTrace& trace) {
    Heap heap(trace);
    for (const TraceEvent event : trace.events) heap.apply(event);
    TraceEvent mark;
    mark.action = Action::kSnapshot;
    mark.size = heap.counters().active_bytes;
    mark.stream = trace.events.back().stream + 1;
    mark.time_us = trace.events.back().time_us;
    return mark;
  }

  void write_event(const TraceEvent& event, const DeviceTrace& trace) {
    pickle_.dict([&] {
      field("action", action_name(event.action));
      field(event.action == Action::kOom ? "device_free" : "addr", event.address);
      // PyTorch writes what was asked for; what the block takes is a key of ours beside it.
      field("size", is_block_action(event.action) ? event.requested_bytes : event.size);
      if (event.action == Action::kAlloc && event.size != event.requested_bytes)
        field("block_size", event.size);
      field("stream", event.stream);
      field("time_us", event.time_us);
      if (event.category != 0) field("category", process_.strings.at(event.category));
      for (const Value& item : trace.extras[event.extra].items) write_value(item);
      write_frames(event.stack);
    });
  }

  void write_frames(StackId stack) {
    pickle_.text("frames");
    if (stack_ids_[stack] != kNotWritten) return pickle_.get(stack_ids_[stack]);
    const auto frames = process_.stacks.frames(stack);
    pickle_.list(frames.size(), [&](size_t i) { write_frame(frames[i]); });
    stack_ids_[stack] = pickle_.put();
  }

  void write_frame(FrameId id) {
    if (frame_ids_[id] != kNotWritten) return pickle_.get(frame_ids_[id]);
    const Frame& frame = process_.stacks.frame(id);
    pickle_.dict([&] {
      field("name", process_.strings.at(frame.name));
      field("filename", process_.strings.at(frame.filename));
      field("line", int64_t{frame.line});
    });
    frame_ids_[id] = pickle_.put();
  }

  void write_annotation(const Annotation& annotation) {
    pickle_.dict([&] {
      field("stage", std::string_view(annotation.stage));
      field("name", std::string_view(annotation.name));
      field("device", int64_t{annotation.device});
      field("time_us", annotation.time_us);
    });
  }

  void write_settings() {
    if (process_.allocator_settings.kind == Value::Kind::kDict)
      return write_value(process_.allocator_settings);
    pickle_.dict([] {});
  }

  void write_value(const Value& value) {
    const auto write_items = [&] {
      for (const Value& item : value.items) write_value(item);
    };
    switch (value.kind) {
      case Value::Kind::kNone:
        return pickle_.none();
      case Value::Kind::kBool:
        return pickle_.boolean(value.integer != 0);
      case Value::Kind::kInteger:
        return pickle_.integer(value.integer);
      case Value::Kind::kReal:
        return pickle_.real(value.real);
      case Value::Kind::kText:
        return pickle_.text(value.text);
      case Value::Kind::kList:
        return pickle_.list(value.items.size(), [&](size_t i) { write_value(value.items[i]); });
      case Value::Kind::kTuple:
        return pickle_.tuple(write_items);
      case Value::Kind::kDict:
        return pickle_.dict(write_items);
    }
  }

  const ProcessRecording& process_;
  PickleWriter pickle_;
  std::vector<uint32_t> frame_ids_;  // memo ids by FrameId, StackId
  std::vector<uint32_t> stack_ids_;
};

}  // namespace

void write_snapshot(const ProcessRecording& process, std::ostream& out) {
  SnapshotPickle(process, out).write();
}

}  // namespace vramscope
