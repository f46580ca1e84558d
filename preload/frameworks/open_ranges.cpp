#include "preload/frameworks/open_ranges.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace vramscope {
namespace {

enum class State : uint8_t { kFree, kBusy, kOpen };

template <size_t kBytes>
struct ShortText {
  void set(std::string_view text) {
    size = static_cast<uint16_t>(std::min(text.size(), kBytes));
    std::copy_n(text.data(), size, bytes);
  }
  std::string_view view() const { return {bytes, size}; }

  uint16_t size = 0;
  char bytes[kBytes] = {};
};

// Written by whoever holds it busy; read while it is open, after the state.
struct Slot {
  std::atomic<State> state = State::kFree;
  RecordKind kind = RecordKind::kRangePush;
  uint32_t thread = 0;
  uint64_t ticks = 0;
  uint64_t range = 0;
  ShortText<64> domain;
  ShortText<160> message;

  bool take(State from) {
    return state.compare_exchange_strong(from, State::kBusy, std::memory_order_acquire);
  }
  void give_back(State as) { state.store(as, std::memory_order_release); }
};
constinit Slot slots[64];

uint32_t this_thread() {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local uint32_t id = 0;
  if (id == 0) id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

bool is_open(const Slot& slot, RecordKind kind) {
  return slot.state.load(std::memory_order_acquire) == State::kOpen && slot.kind == kind;
}

bool is_own_push(const Slot& slot) {
  return is_open(slot, RecordKind::kRangePush) && slot.thread == this_thread();
}

void open(const Mark& mark) {
  const auto slot = std::ranges::find_if(slots, [](Slot& each) { return each.take(State::kFree); });
  if (slot == std::end(slots)) return;
  slot->kind = mark.kind;
  slot->thread = this_thread();
  slot->ticks = mark.ticks;
  slot->range = mark.range;
  slot->domain.set(mark.domain);
  slot->message.set(mark.message);
  slot->give_back(State::kOpen);
}

void close_last_push(std::string_view domain) {
  Slot* last = nullptr;
  for (Slot& slot : slots) {
    if (!is_own_push(slot) || slot.domain.view() != domain.substr(0, sizeof(slot.domain.bytes)))
      continue;
    if (last == nullptr || last->ticks < slot.ticks) last = &slot;
  }
  if (last != nullptr) last->give_back(State::kFree);
}

void close_started(uint64_t range) {
  for (Slot& slot : slots) {
    if (!is_open(slot, RecordKind::kRangeStart) || !slot.take(State::kOpen)) continue;
    slot.give_back(slot.range == range ? State::kFree : State::kOpen);
  }
}

}  // namespace

void remember_mark(const Mark& mark) {
  if (mark.kind == RecordKind::kRangePush || mark.kind == RecordKind::kRangeStart) open(mark);
  if (mark.kind == RecordKind::kRangePop) close_last_push(mark.domain);
  if (mark.kind == RecordKind::kRangeEnd) close_started(mark.range);
}

void record_remembered_ranges() {
  for (Slot& slot : slots) {
    if (!is_own_push(slot) && !is_open(slot, RecordKind::kRangeStart)) continue;
    if (!slot.take(State::kOpen)) continue;
    record_mark({slot.kind, slot.ticks, slot.range, slot.domain.view(), slot.message.view()});
    slot.give_back(State::kFree);
  }
}

}  // namespace vramscope
