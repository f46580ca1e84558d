#include "tools/model/session_recording.h"

#include <algorithm>
#include <functional>
#include <map>

#include "tools/model/driver_memory.h"
#include "tools/model/mapped_ranges.h"
#include "tools/model/memory_kinds.h"
#include "tools/model/pending_frees.h"
#include "tools/model/session_marks.h"
#include "tools/model/session_stacks.h"
#include "tools/model/trace_builder.h"

namespace vramscope {
namespace {

// Of any number, also of the lowest.
uint64_t magnitude(int64_t number) {
  return number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
}

class SessionRecorder {
 public:
  // The session's definitions are complete, its events come to apply().
  SessionRecorder(const Session& session, ProcessRecording& process, DriverMemory& memory,
                  SessionStacks& stacks)
      : session_(session),
        process_(process),
        owners_(session),
        memory_(memory),
        stacks_(stacks),
        marks_(session, process, stacks) {
    memory.find_owners(owners_);
  }

  void apply(const SessionEvent& recorded) {
    finish_range_before(recorded);
    add_to_trace(recorded);
    last_ticks_ = recorded.event.ticks;
    if (marks_.wants(recorded)) marks_.note(recorded, moment());
  }

  // After the last event.
  void finish() {
    for (auto& [thread, range] : ranges_) finish(range);
    marks_.finish(moment());
    process_.kinds = kinds_.uses();
    for (auto& [device, writer] : devices_) {
      process_.repairs += writer.builder.repairs();
      process_.devices.push_back(writer.builder.take());
      process_.devices.back().capacity_bytes = capacities_[device];
    }
  }

 private:
  // Handles of one range that are mapped, or unmapped, one by one: one event of the trace.
  struct PendingRange {
    RecordKind kind = RecordKind::kPadding;  // kMap, kUnmap; kPadding: nothing
    int device = 0;
    UnitId unit = kNoUnit;
    TraceEvent event;
  };

  struct DeviceWriter {
    DeviceWriter(int device, bool may_have_holes) : builder(device, may_have_holes) {}

    TraceBuilder builder;
    PendingFrees frees{builder};
  };

  // Frees do not say of which device: addresses are unique over all of them.
  struct Allocation {
    int8_t device = 0;
    bool is_block = false;  // else a framework's segment
  };

  void add_to_trace(const SessionEvent& recorded) {
    const Event& event = recorded.event;
    const UnitId unit = live_.apply(event);
    const auto given_back = kind_count_.apply(event);
    mapped_.apply(event);
    switch (event.kind) {
      case RecordKind::kBlockPending:
        return writer(event.device).frees.tell(event.size);
      case RecordKind::kBlockAlloc:
        return alloc_block(recorded);
      case RecordKind::kBlockFree:
        writer(event.device).frees.give_back(trace_event(recorded));
        return compare_counters(event);
      case RecordKind::kBlockOom:
        return add_oom(recorded, event.address);
      case RecordKind::kContextCreate:
        if (event.extra != 0) capacities_[event.device] = event.extra;
        return;
      case RecordKind::kDeviceAlloc:
      case RecordKind::kManagedAlloc:
      case RecordKind::kAsyncAlloc:
        return event.result == 0 ? allocate(recorded, unit) : note_failure(recorded);
      case RecordKind::kDeviceFree:
      case RecordKind::kAsyncFree:
        if (is_elsewhere(given_back)) return;
        return give_back(recorded, event.address);
      case RecordKind::kArrayCreate:
        return allocate_array(recorded);
      case RecordKind::kArrayDestroy:
        if (is_elsewhere(given_back)) return;
        return give_back(recorded, event.handle);
      case RecordKind::kPhysicalCreate:
        return note_failure(recorded);
      case RecordKind::kMap:
        return map(recorded, unit);
      case RecordKind::kUnmap:
        return unmap(recorded);
      default:
        return;
    }
  }

  // Calls that free memory also free what is no segment.
  static bool is_elsewhere(std::optional<MemoryKind> given_back) {
    return given_back == MemoryKind::kImported || given_back == MemoryKind::kGraphNode;
  }

  DeviceWriter& writer(int device) {
    const bool may_have_holes = session_.lost_events > 0 || !session_.complete;
    return devices_.try_emplace(std::max(device, 0), std::max(device, 0), may_have_holes)
        .first->second;
  }
  TraceBuilder& builder(int device) { return writer(device).builder; }

  // After the last event that was applied.
  Moment moment() {
    Moment moment;
    moment.time_us = session_.unix_ns(last_ticks_) / 1000;
    for (const auto& [device, writer] : devices_) {
      moment.events.resize(static_cast<size_t>(device));
      moment.events.push_back(writer.builder.event_count());
    }
    return moment;
  }

  TraceEvent trace_event(const SessionEvent& recorded) {
    const Event& event = recorded.event;
    TraceEvent made;
    made.thread =
        recorded.thread < session_.threads.size() ? session_.threads[recorded.thread].thread_id : 0;
    made.stack = stacks_.of(event);
    made.address = event.address;
    made.size = event.size;
    made.stream = event.stream;
    made.time_us = session_.unix_ns(event.ticks) / 1000;
    return made;
  }

  TraceEvent block_event(const SessionEvent& recorded) {
    TraceEvent event = trace_event(recorded);
    event.requested_bytes = recorded.event.handle;
    return event;
  }

  void alloc_block(const SessionEvent& recorded) {
    DeviceWriter& device = writer(recorded.event.device);
    const TraceEvent event = block_event(recorded);
    device.frees.alloc(event);
    device.builder.alloc(event);
    compare_counters(recorded.event);
  }

  TraceEvent segment_event(const SessionEvent& recorded, UnitId id) {
    TraceEvent event = trace_event(recorded);
    const DriverUnit& unit = memory_.unit(id);
    event.owner = owner_name(unit);
    event.outside = memory_.has_blocks() && !unit.is_framework;
    if (unit.is_framework) event.stream = unit.stream;
    return event;
  }

  StringId owner_name(const DriverUnit& unit) {
    // Only PyTorch's allocator is hooked: blocks are its blocks, whoever made the segment for it.
    if (unit.owner.name.empty() && unit.has_blocks) return process_.strings.intern("PyTorch");
    return process_.strings.intern(unit.owner.name);
  }

  void allocate(const SessionEvent& recorded, UnitId unit) {
    if (unit == kNoUnit) return;
    open_allocation(segment_event(recorded, unit), recorded.event.device,
                    !memory_.unit(unit).is_framework);
  }

  void allocate_array(const SessionEvent& recorded) {
    const Event& array = recorded.event;
    if (array.result != 0 || array.size == 0 || array.handle == 0) return;
    TraceEvent event = trace_event(recorded);
    event.address = array.handle;  // arrays have no address
    event.owner = process_.strings.intern(owners_.of(array.native_stack).name);
    event.outside = memory_.has_blocks();
    open_allocation(event, array.device, true);
  }

  void open_allocation(const TraceEvent& event, int8_t device, bool is_block) {
    allocations_.insert(event.address, {device, is_block});
    builder(device).segment_alloc(event);
    if (is_block) builder(device).alloc(event);
  }

  void give_back(const SessionEvent& recorded, uint64_t address) {
    if (recorded.event.result != 0 || address == 0) return;
    const Allocation* found = allocations_.find(address);
    if (found == nullptr) {
      ++process_.repairs;
      return;
    }
    const Allocation allocation = *found;
    allocations_.erase(address);
    TraceEvent event = trace_event(recorded);
    event.address = address;
    DeviceWriter& device = writer(allocation.device);
    if (allocation.is_block) device.builder.free(event);
    const auto segment = device.builder.heap().segments().find(address);
    if (segment != device.builder.heap().segments().end()) event.size = segment->second.size;
    device.frees.segment_goes(event);
    device.builder.segment_free(event);
  }

  void map(const SessionEvent& recorded, UnitId unit) {
    const Event& event = recorded.event;
    if (event.result != 0 || unit == kNoUnit) return;
    const auto device = mapped_.map(event);
    if (!device) return;  // somebody else's memory, or the host's
    const TraceEvent made = segment_event(recorded, unit);
    if (!memory_.unit(unit).is_framework) {
      builder(*device).segment_map(made);
      return builder(*device).alloc(made);
    }
    extend_range(recorded.thread, {RecordKind::kMap, *device, unit, made});
  }

  void unmap(const SessionEvent& recorded) {
    const Event& event = recorded.event;
    if (event.result != 0) return;
    const UnitId unit = live_.find(event.address);
    for (const MappedRange& range : mapped_.unmap(event)) {
      TraceEvent made = unit == kNoUnit ? trace_event(recorded) : segment_event(recorded, unit);
      made.address = range.address;
      made.size = range.size;
      if (unit != kNoUnit && memory_.unit(unit).is_framework) {
        extend_range(recorded.thread, {RecordKind::kUnmap, range.device, unit, made});
      } else {
        builder(range.device).free(made);
        builder(range.device).segment_unmap(made);
      }
    }
  }

  void extend_range(uint32_t thread, const PendingRange& piece) {
    PendingRange& range = ranges_[thread];
    if (range.kind == piece.kind && range.unit == piece.unit && range.device == piece.device &&
        range.event.address + range.event.size == piece.event.address) {
      range.event.size += piece.event.size;
      return;
    }
    finish(range);
    range = piece;
  }

  // PyTorch creates all handles of a range, maps them, then sets their access; it unmaps and
  // releases them one by one. Any other call of the thread comes after the range.
  void finish_range_before(const SessionEvent& next) {
    if (ranges_.empty()) return;
    const auto found = ranges_.find(next.thread);
    if (found == ranges_.end()) return;
    PendingRange& range = found->second;
    const RecordKind kind = next.event.kind;
    const bool goes_on = kind == range.kind || kind == RecordKind::kPhysicalCreate ||
                         kind == RecordKind::kPhysicalRelease;
    if (!goes_on) finish(range);
  }

  void finish(PendingRange& range) {
    if (range.kind == RecordKind::kMap) builder(range.device).segment_map(range.event);
    if (range.kind == RecordKind::kUnmap) {
      writer(range.device).frees.segment_goes(range.event);
      builder(range.device).segment_unmap(range.event);
    }
    range.kind = RecordKind::kPadding;
  }

  void add_oom(const SessionEvent& recorded, uint64_t free_bytes_plus_one) {
    DeviceWriter& device = writer(recorded.event.device);
    TraceEvent event = trace_event(recorded);
    FailedRequest& failure = add_failure(recorded, free_bytes_plus_one);
    failure.is_oom = true;
    event.address = failure.free_bytes.value_or(0);
    device.frees.oom(event);
    failure.event = device.builder.event_count();
    device.builder.oom(event);
  }

  FailedRequest& add_failure(const SessionEvent& recorded, uint64_t free_bytes_plus_one) {
    const TraceEvent event = trace_event(recorded);
    const Owner& owner = owners_.of(recorded.event.native_stack);
    FailedRequest& failure = process_.failed_requests.emplace_back();
    failure.device = std::max<int>(recorded.event.device, 0);
    failure.event = builder(failure.device).event_count();
    failure.size = event.size;
    if (free_bytes_plus_one != 0) failure.free_bytes = free_bytes_plus_one - 1;
    const HeapCounters& heap = builder(failure.device).heap().counters();
    failure.known_bytes = heap.reserved_bytes + heap.outside_bytes;
    failure.stream = event.stream;
    failure.thread = event.thread;
    failure.owner = process_.strings.intern(owner.name);
    failure.by_caching_allocator =
        memory_.has_blocks() && (owner.is_caching_allocator || owner.name.empty());
    failure.stack = event.stack;
    failure.time_us = event.time_us;
    return failure;
  }

  // PyTorch reports its own failures, after it has tried again with an empty cache. Without block
  // events every refusal is one; beside them those of other libraries.
  void note_failure(const SessionEvent& recorded) {
    const Event& event = recorded.event;
    if (event.result != kOutOfMemoryResult) return;
    if (memory_.has_blocks()) {
      const Owner& owner = owners_.of(event.native_stack);
      if (owner.is_caching_allocator || owner.name.empty()) {
        add_failure(recorded, event.extra);
        return;
      }
    }
    add_oom(recorded, event.extra);
  }

  void compare_counters(const Event& event) {
    const HeapCounters& ours = builder(event.device).heap().counters();
    const auto allocated = event.kind == RecordKind::kBlockAlloc
                               ? 0
                               : static_cast<int64_t>(ours.allocated_bytes - event.handle);
    const auto reserved = static_cast<int64_t>(ours.reserved_bytes - event.extra);
    CounterCheck& check = process_.counters;
    ++check.compared;
    if (allocated == 0 && reserved == 0) return;
    ++check.differences;
    for (const int64_t difference : {allocated, reserved})
      if (magnitude(difference) > magnitude(check.largest_difference_bytes))
        check.largest_difference_bytes = difference;
  }

  const Session& session_;
  ProcessRecording& process_;
  StackOwners owners_;
  const DriverMemory& memory_;
  SessionStacks& stacks_;
  SessionMarks marks_;
  uint64_t last_ticks_ = 0;
  LiveUnits live_;
  KindTotals kinds_;
  KindCount kind_count_{kinds_};
  MappedRanges mapped_{kinds_};
  std::map<int, DeviceWriter> devices_;
  std::map<int, uint64_t> capacities_;
  std::map<uint32_t, PendingRange> ranges_;  // by thread
  AddressMap<Allocation> allocations_;
};

void describe(const Session& session, ProcessRecording& process) {
  process.source = session.path;
  if (session.pid != 0) process.pid = session.pid;
  if (session.rank) process.rank = *session.rank;
  process.host = session.host;
  process.command = session.command;
  process.lost_events = session.lost_events;
  process.finished = session.finished;
  for (const std::string& problem : session.problems)
    process.warning += (process.warning.empty() ? "" : "; ") + problem;
}

// Calls visit(event) with all events of a session, in order.
using Visit = std::function<void(const SessionEvent&)>;
using Walk = std::function<void(const Visit& visit)>;

// Walks twice: who made what is known when the trace is written.
std::unique_ptr<ProcessRecording> record(const Session& session, const Walk& walk,
                                         const SessionOptions& options) {
  auto process = std::make_unique<ProcessRecording>();
  DriverMemory memory;
  CuptiAuditor auditor;
  SessionStacks stacks(session, *process, options.native_frames);
  walk([&](const SessionEvent& recorded) {
    ++process->events;
    memory.apply(recorded.event);
    auditor.apply(recorded.event);
    stacks.note(recorded.event);
  });
  describe(session, *process);
  process->cupti_audit = auditor.result();
  stacks.name_native_frames();
  SessionRecorder recorder(session, *process, memory, stacks);
  walk([&](const SessionEvent& recorded) { recorder.apply(recorded); });
  recorder.finish();
  return process;
}

}  // namespace

std::unique_ptr<ProcessRecording> recording_of_session(const Session& session,
                                                       const SessionOptions& options) {
  const Walk walk = [&session](const Visit& visit) {
    for (const SessionEvent& recorded : session.events) visit(recorded);
  };
  return record(session, walk, options);
}

std::unique_ptr<ProcessRecording> recording_of_session(SessionStream& stream,
                                                       const SessionOptions& options) {
  bool walked = false;
  const Walk walk = [&](const Visit& visit) {
    if (walked) stream.rewind();
    walked = true;
    while (const SessionEvent* recorded = stream.next()) visit(*recorded);
  };
  return record(stream.session(), walk, options);
}

}  // namespace vramscope
