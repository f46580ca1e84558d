#include "tools/formats/snapshot_reader.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "tools/formats/pickle_reader.h"
#include "tools/formats/snapshot_fields.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

class SnapshotBuilder {
 public:
  SnapshotBuilder(const PickleDocument& document, size_t input_bytes, ProcessRecording& process)
      : document_(document), fields_(document, input_bytes), process_(process) {}

  void build() {
    const NodeId root = document_.root();
    fields_.dict(root, "the snapshot");
    const auto traces = fields_.list(fields_.at(root, "device_traces"), "device_traces");
    for (size_t device = 0; device < traces.size(); ++device) {
      DeviceTrace& trace = process_.devices.emplace_back();
      trace.device = static_cast<int>(device);
      trace.final_layout.emplace();
      for (const NodeId event : fields_.list(traces[device], "a device's trace"))
        add_event(event, trace);
    }
    for (const NodeId segment : fields_.list(fields_.at(root, "segments"), "segments"))
      add_segment(segment);
    if (const auto annotations = fields_.find(root, "external_annotations"))
      for (const NodeId node : fields_.list(*annotations, "external_annotations"))
        add_annotation(node);
    if (const auto settings = fields_.find(root, "allocator_settings"))
      process_.allocator_settings = fields_.copy(*settings);
    if (skipped_events_ + hidden_segments_ > 0) process_.warning = describe_skipped();
  }

 private:
  void add_event(NodeId node, DeviceTrace& trace) {
    ++process_.events;
    const auto action = action_of(fields_.text(fields_.at(node, "action"), "action"));
    if (!action) {
      ++skipped_events_;
      return;
    }
    TraceEvent event;
    event.action = *action;
    event.address =
        fields_.bytes(fields_.at(node, *action == Action::kOom ? "device_free" : "addr"), "addr");
    event.requested_bytes = fields_.bytes(fields_.at(node, "size"), "size");
    event.size = fields_.bytes_or(node, "block_size", event.requested_bytes);
    event.stream = fields_.bytes_or(node, "stream", 0);
    event.time_us = fields_.integer_or(node, "time_us", 0);
    event.category = process_.strings.intern(fields_.text_or(node, "category", ""));
    event.stack = stack_of(node);
    event.extra = extra_of(node, trace);
    trace.events.push_back(event);
  }

  static std::optional<Action> action_of(std::string_view name) {
    for (size_t i = 0; i < kActionCount; ++i)
      if (name == action_name(static_cast<Action>(i))) return static_cast<Action>(i);
    if (name == "free") return Action::kFreeCompleted;  // what PyTorch 2.0 wrote
    return std::nullopt;
  }

  // The fields that the model does not know: one dict per combination of values, since PyTorch
  // repeats the same few in every event.
  uint32_t extra_of(NodeId node, DeviceTrace& trace) {
    static constexpr std::string_view kKnown[] = {"action",     "addr",     "size",
                                                  "block_size", "stream",   "time_us",
                                                  "frames",     "category", "device_free"};
    std::vector<NodeId> unknown;
    const auto items = fields_.dict(node, "an event");
    for (size_t i = 0; i < items.size(); i += 2)
      if (std::ranges::find(kKnown, fields_.text(items[i], "an event's key")) == std::end(kKnown))
        unknown.insert(unknown.end(), {items[i], items[i + 1]});
    if (unknown.empty()) return 0;
    auto& known = extras_[trace.device];
    const auto [entry, added] = known.try_emplace(unknown, trace.extras.size());
    if (added) {
      Value& dict = trace.extras.emplace_back();
      dict.kind = Value::Kind::kDict;
      for (const NodeId item : unknown) dict.items.push_back(fields_.copy(item));
    }
    return entry->second;
  }

  StackId stack_of(NodeId owner) {
    const auto list = fields_.find(owner, "frames");
    if (!list) return 0;
    frames_.clear();
    for (const NodeId node : fields_.list(*list, "frames")) frames_.push_back(frame_of(node));
    return process_.stacks.intern(frames_);
  }

  FrameId frame_of(NodeId node) {
    const auto known = frame_ids_.find(node);
    if (known != frame_ids_.end()) return known->second;
    Frame frame;
    frame.name = process_.strings.intern(fields_.text_or(node, "name", ""));
    frame.filename = process_.strings.intern(fields_.text_or(node, "filename", ""));
    frame.line = static_cast<int32_t>(
        std::clamp<int64_t>(fields_.integer_or(node, "line", 0), INT32_MIN, INT32_MAX));
    const FrameId id = process_.stacks.intern(frame);
    frame_ids_.emplace(node, id);
    return id;
  }

  void add_segment(NodeId node) {
    const uint64_t device = fields_.bytes_or(node, "device", 0);
    if (device >= process_.devices.size()) {  // PyTorch's viewer does not show it either
      ++hidden_segments_;
      return;
    }
    HeapLayout& layout = *process_.devices[device].final_layout;
    Segment segment;
    segment.address = fields_.bytes(fields_.at(node, "address"), "address");
    segment.size = fields_.bytes(fields_.at(node, "total_size"), "total_size");
    segment.stream = fields_.bytes_or(node, "stream", 0);
    segment.is_large = fields_.text_or(node, "segment_type", "large") != "small";
    segment.is_expandable = fields_.integer_or(node, "is_expandable", 0) != 0;
    if (const auto pool = fields_.find(node, "segment_pool_id")) {
      const auto ids = fields_.list(*pool, "segment_pool_id");
      if (ids.size() != 2) fields_.fail(*pool, "segment_pool_id is not a pair");
      segment.pool = {fields_.integer(ids[0], "a pool id"), fields_.integer(ids[1], "a pool id")};
    }
    segment.stack = stack_of(node);
    segment.first_block = layout.blocks.size();
    add_blocks(fields_.at(node, "blocks"), segment.address, layout);
    segment.block_count = layout.blocks.size() - segment.first_block;
    layout.segments.push_back(segment);
  }

  // Addresses are a running sum, as in PyTorch's viewer: files of PyTorch 2.0 have none.
  void add_blocks(NodeId list, uint64_t address, HeapLayout& layout) {
    for (const NodeId node : fields_.list(list, "blocks")) {
      Block block;
      block.address = address;
      block.size = fields_.bytes(fields_.at(node, "size"), "size");
      block.requested_bytes = fields_.bytes_or(node, "requested_size", block.size);
      block.state = state_of(node);
      block.stack = stack_of(node);
      address += block.size;
      layout.blocks.push_back(block);
    }
  }

  BlockState state_of(NodeId block) {
    const NodeId node = fields_.at(block, "state");
    const std::string_view name = fields_.text(node, "state");
    for (const auto state : {BlockState::kActive, BlockState::kPendingFree, BlockState::kInactive})
      if (name == block_state_name(state)) return state;
    if (name == "active_awaiting_free")
      return BlockState::kPendingFree;  // as its documentation has it
    fields_.fail(node, "an unknown block state");
  }

  void add_annotation(NodeId node) {
    process_.annotations.push_back({std::string(fields_.text_or(node, "name", "")),
                                    std::string(fields_.text_or(node, "stage", "")),
                                    static_cast<int>(fields_.integer_or(node, "device", 0)),
                                    fields_.integer_or(node, "time_us", 0)});
  }

  std::string describe_skipped() const {
    std::string text;
    if (skipped_events_ > 0)
      text = "events of unknown kinds left out: " + std::to_string(skipped_events_);
    if (hidden_segments_ > 0)
      text += std::string(text.empty() ? "" : "; ") +
              "segments of devices without a trace left out: " + std::to_string(hidden_segments_);
    return text;
  }

  const PickleDocument& document_;
  SnapshotFields fields_;
  ProcessRecording& process_;
  std::unordered_map<NodeId, FrameId> frame_ids_;
  std::map<int, std::map<std::vector<NodeId>, uint32_t>> extras_;  // by device
  std::vector<FrameId> frames_;
  uint64_t skipped_events_ = 0;
  uint64_t hidden_segments_ = 0;
};

}  // namespace

std::unique_ptr<ProcessRecording> read_snapshot(std::string_view pickle,
                                                const std::string& source) {
  auto process = std::make_unique<ProcessRecording>();
  process->source = source;
  process->from_pickle = true;
  try {
    const PickleDocument document(pickle);
    SnapshotBuilder(document, pickle.size(), *process).build();
  } catch (const PickleError& error) {
    throw UserError(source + ": " + error.what() + " (byte " + std::to_string(error.offset) +
                    "); expected a session file or a snapshot that PyTorch wrote");
  }
  return process;
}

}  // namespace vramscope
