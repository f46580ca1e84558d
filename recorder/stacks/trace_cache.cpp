#include "recorder/stacks/trace_cache.h"

#include <algorithm>
#include <new>

namespace vramscope {
namespace {

constexpr uint64_t kProbe = 1;

// Keys of entries are never 0.
uint64_t first_key(const CallSite& site, uint64_t hint) {
  return mix_key(site.program_counter ^ site.stack_pointer << 20 ^ hint << 32) | 1;
}
uint64_t next_key(uint64_t key, uint64_t word) { return mix_key(key ^ word) | 1; }

// Of other functions' frames: AddressSanitizer keeps parts of them that are no variables.
[[gnu::no_sanitize("address")]] uint64_t load_word(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

// Words are compared four at a time: the loads of a group do not wait for one another.
constexpr uint32_t kGroup = 4;

}  // namespace

// Followed by count offsets (32 bits, from the stack pointer) and count words. count is a multiple
// of kGroup: the last word is repeated.
struct alignas(16) TraceCache::Trace {
  Trace* next;  // what followed it the last time; nullptr: nothing yet
  uint64_t program_counter;
  uint64_t stack_pointer;
  uint64_t frame_pointer;
  uint64_t unloads;
  uint32_t id;
  uint32_t count;
  bool uses_frame_pointer;  // else the walk does not depend on it

  static size_t bytes_for(size_t count) {
    return sizeof(Trace) + count * (sizeof(uint32_t) + sizeof(uint64_t));
  }
  uint32_t* offsets() { return reinterpret_cast<uint32_t*>(this + 1); }
  uint64_t* words() { return reinterpret_cast<uint64_t*>(offsets() + count); }

  bool begins_like(const CallSite& site, uint64_t unloads_now) const {
    return program_counter == site.program_counter && stack_pointer == site.stack_pointer &&
           unloads == unloads_now && (!uses_frame_pointer || frame_pointer == site.frame_pointer);
  }

  bool is_found_at(const CallSite& site, uint64_t unloads_now) {
    return begins_like(site, unloads_now) && compare() == count;
  }

  // The first word that differs; count: none does.
  uint32_t compare() {
    const uint32_t* offset = offsets();
    const uint64_t* word = words();
    for (uint32_t i = 0; i < count; i += kGroup) {
      uint64_t differences = 0;
      for (uint32_t lane = i; lane < i + kGroup; ++lane) {
        differences |= load_word(stack_pointer + offset[lane]) ^ word[lane];
      }
      if (differences == 0) continue;
      while (load_word(stack_pointer + offset[i]) == word[i]) ++i;
      return i;
    }
    return count;
  }
};

uint32_t TraceCache::find(const CallSite& site, uint64_t hint, uint64_t unloads) {
  Trace* trace = predicted_;
  if (trace == nullptr || !trace->is_found_at(site, unloads)) [[unlikely]] {
    trace = find_by_key(site, hint, unloads);
    if (trace == nullptr) return 0;
    note_successor(trace);
  }
  last_ = trace;
  predicted_ = trace->next;
  return trace->id;
}

void TraceCache::note_successor(Trace* trace) {
  if (last_ != nullptr) last_->next = trace;
}

TraceCache::Trace* TraceCache::find_by_key(const CallSite& site, uint64_t hint, uint64_t unloads) {
  uint64_t key = first_key(site, hint);
  miss_ = {.key = key};
  if (!stack_.contains(site.stack_pointer)) [[unlikely]] {
    return nullptr;
  }
  for (int step = 0; step < kMaxProbes; ++step) {
    const TraceIndex::Entry* entry = index_.find(key);
    if (entry == nullptr) break;
    if ((entry->target & kProbe) == 0) {
      auto* trace = reinterpret_cast<Trace*>(entry->target);
      if (!trace->begins_like(site, unloads)) [[unlikely]] {
        break;
      }
      const uint32_t slot = trace->compare();
      if (slot == trace->count) [[likely]] {
        return trace;
      }
      miss_.refuted = trace;
      miss_.slot = slot;
      break;
    }
    const uint64_t address = site.stack_pointer + (entry->target & ~kProbe);
    if (address > stack_.high - sizeof(uint64_t)) [[unlikely]] {
      break;
    }
    key = next_key(key, load_word(address));
  }
  miss_.key = key;
  return nullptr;
}

void TraceCache::remember(const CallSite& site, std::span<const FrameReads> reads, uint32_t id,
                          uint64_t unloads) {
  Trace* trace = make_trace(site, reads, id, unloads);
  if (trace == nullptr || !index_.make_room(2, memory_)) {
    clear();  // the next stacks find room
    return;
  }
  note_successor(trace);
  last_ = trace;
  predicted_ = nullptr;
  const auto target = reinterpret_cast<uint64_t>(trace);
  Trace* refuted = miss_.refuted;
  if (refuted == nullptr) {
    index_.put({miss_.key, target});
    return;
  }
  const uint64_t offset = refuted->offsets()[miss_.slot];
  const TraceIndex::Entry* probe = index_.put({miss_.key, offset | kProbe});
  const uint64_t old_word = refuted->words()[miss_.slot];
  const uint64_t new_word = load_word(site.stack_pointer + offset);
  index_.put({next_key(miss_.key, old_word), reinterpret_cast<uint64_t>(refuted)}, probe);
  index_.put({next_key(miss_.key, new_word), target}, probe);
}

// The words that the walk read; nullptr: no memory, or a stack of more than 4 GiB.
TraceCache::Trace* TraceCache::make_trace(const CallSite& site, std::span<const FrameReads> reads,
                                          uint32_t id, uint64_t unloads) {
  uint64_t addresses[3 * kMaxNativeFrames + kGroup];
  uint32_t count = 0;
  // From the outermost frame inwards: a saved rbp matters only if a later frame uses it.
  bool is_frame_pointer_used = false;
  for (size_t i = reads.size(); i-- > 0;) {
    const FrameReads& frame = reads[i];
    if (frame.frame_pointer != 0 && is_frame_pointer_used) addresses[count++] = frame.frame_pointer;
    if (frame.return_address != 0) addresses[count++] = frame.return_address;
    if (frame.cfa != 0) addresses[count++] = frame.cfa;
    if (frame.frame_pointer != 0) is_frame_pointer_used = false;
    is_frame_pointer_used |= frame.uses_frame_pointer;
  }
  if (count == 0) addresses[count++] = site.stack_pointer;
  std::reverse(addresses, addresses + count);
  while (count % kGroup != 0) {
    addresses[count] = addresses[count - 1];
    ++count;
  }
  if (stack_.high - site.stack_pointer > UINT32_MAX) return nullptr;
  void* memory = memory_.allocate(Trace::bytes_for(count));
  if (memory == nullptr) return nullptr;
  auto* trace = new (memory) Trace{
      .next = nullptr,
      .program_counter = site.program_counter,
      .stack_pointer = site.stack_pointer,
      .frame_pointer = site.frame_pointer,
      .unloads = unloads,
      .id = id,
      .count = count,
      .uses_frame_pointer = is_frame_pointer_used,
  };
  for (uint32_t i = 0; i < count; ++i) {
    trace->offsets()[i] = static_cast<uint32_t>(addresses[i] - site.stack_pointer);
    trace->words()[i] = load_word(addresses[i]);
  }
  return trace;
}

void TraceCache::clear() {
  memory_.clear();
  index_.clear();
  miss_.refuted = nullptr;
  last_ = predicted_ = nullptr;
}

}  // namespace vramscope
