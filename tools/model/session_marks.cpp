#include "tools/model/session_marks.h"

#include <algorithm>

namespace vramscope {

void SessionMarks::note(const SessionEvent& recorded, const Moment& now) {
  if (recorded.event.kind == RecordKind::kScope && begin_call(recorded, now)) return;
  follow_call(recorded, now);
  switch (recorded.event.kind) {
    case RecordKind::kRangePush:
      pushed_[{recorded.thread, text(recorded.event.extra)}].push_back(
          open(RangeKind::kNvtxPushed, recorded, now));
      break;
    case RecordKind::kRangePop:
      pop(recorded, now);
      break;
    case RecordKind::kRangeStart:
      started_[recorded.event.address] = open(RangeKind::kNvtxStarted, recorded, now);
      break;
    case RecordKind::kRangeEnd:
      end_started(recorded, now);
      break;
    case RecordKind::kMark:
      close(open(RangeKind::kNvtxMark, recorded, now), now);
      break;
    default:
      break;
  }
}

void SessionMarks::finish(const Moment& now) {
  for (NamedRange& range : process_.ranges) {
    if (range.is_open) range.end = now;
  }
  annotate();
}

SessionMarks::Index SessionMarks::open(RangeKind kind, const SessionEvent& recorded,
                                       const Moment& now) {
  NamedRange range;
  range.kind = kind;
  range.name = text(recorded.event.handle);
  range.domain = text(recorded.event.extra);
  if (recorded.thread < session_.threads.size())
    range.thread = session_.threads[recorded.thread].thread_id;
  range.is_open = true;
  range.begin = now;
  process_.ranges.push_back(std::move(range));
  return process_.ranges.size() - 1;
}

void SessionMarks::close(Index range, const Moment& now) {
  process_.ranges[range].end = now;
  process_.ranges[range].is_open = false;
}

void SessionMarks::follow_call(const SessionEvent& recorded, const Moment& now) {
  const auto open = open_calls_.find(recorded.thread);
  if (open == open_calls_.end() || recorded.event.python_stack == 0) return;
  if (calls_.is_inside(open->second.call, recorded.event.python_stack)) {
    close(open->second.range, now);
  } else {
    open_calls_.erase(open);
  }
}

bool SessionMarks::begin_call(const SessionEvent& recorded, const Moment& now) {
  const auto call = calls_.find(recorded.event.python_stack);
  if (!call) return false;
  const Index range = open(call->kind, recorded, now);
  process_.ranges[range].stack = stacks_.of(call->callers);
  close(range, now);
  open_calls_.insert_or_assign(recorded.thread, OpenCall{*call, range});
  return true;
}

void SessionMarks::pop(const SessionEvent& recorded, const Moment& now) {
  std::vector<Index>& ranges = pushed_[{recorded.thread, text(recorded.event.extra)}];
  if (ranges.empty()) return;
  close(ranges.back(), now);
  ranges.pop_back();
}

void SessionMarks::end_started(const SessionEvent& recorded, const Moment& now) {
  const auto found = started_.find(recorded.event.address);
  if (found == started_.end()) return;
  close(found->second, now);
  started_.erase(found);
}

StringId SessionMarks::text(uint64_t id) {
  const auto found = session_.texts.find(static_cast<uint32_t>(id));
  return found == session_.texts.end() ? 0 : process_.strings.intern(found->second);
}

// As PyTorch names what it annotates itself: one pair for every range.
void SessionMarks::annotate() {
  const auto add = [this](const NamedRange& range, const char* stage, const Moment& moment) {
    Annotation annotation;
    if (range.kind == RangeKind::kOptimizerStep) {
      annotation.name = "Optimizer.step";
    } else if (range.kind == RangeKind::kZeroGrad) {
      annotation.name = "Optimizer.zero_grad";
    } else {
      if (range.domain != 0) annotation.name.append(process_.strings.at(range.domain)).append(": ");
      annotation.name.append(process_.strings.at(range.name));
    }
    annotation.stage = stage;
    annotation.time_us = moment.time_us;
    process_.annotations.push_back(std::move(annotation));
  };
  for (const NamedRange& range : process_.ranges) {
    add(range, "START", range.begin);
    if (!range.is_open) add(range, "END", range.end);
  }
  std::ranges::stable_sort(process_.annotations, {}, &Annotation::time_us);
}

}  // namespace vramscope
