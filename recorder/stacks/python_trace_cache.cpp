#include "recorder/stacks/python_trace_cache.h"

#include <algorithm>
#include <new>

namespace vramscope {

uint64_t PythonTraceCache::key_of(const PythonLayout& layout, const void* innermost) {
  constexpr int kFrames = 4;
  auto key = reinterpret_cast<uint64_t>(innermost);
  const void* frame = innermost;
  for (int i = 0; i < kFrames && frame != nullptr; ++i) {
    const PythonFrameState state = read_frame_state(layout, frame);
    key = mix_key(key ^ state.position_and_owner);
    frame = reinterpret_cast<const void*>(state.previous);
  }
  return key | 1;
}

PythonTraceCache::Trace* PythonTraceCache::find_by_key(const PythonLayout& layout,
                                                       const void* frame) {
  key_ = key_of(layout, frame);
  const TraceIndex::Entry* entry = index_.find(key_);
  if (entry == nullptr) return nullptr;
  auto* trace = reinterpret_cast<Trace*>(entry->target);
  return trace->is_found_at(layout, frame) ? trace : nullptr;
}

void PythonTraceCache::remember(const void* innermost, std::span<const PythonFrameState> frames,
                                InternedStacks::Stack* stack, uint64_t deaths) {
  void* memory = memory_.allocate(sizeof(Trace) + frames.size_bytes());
  if (memory == nullptr || !index_.make_room(1, memory_)) return clear();
  auto* trace = new (memory) Trace{innermost, frames.size(), nullptr, stack, deaths, stack->id};
  std::ranges::copy(frames, reinterpret_cast<PythonFrameState*>(trace + 1));
  index_.put({key_, reinterpret_cast<uint64_t>(trace)});
  note_successor(trace);
  last_ = trace;
  predicted_ = nullptr;
}

}  // namespace vramscope
