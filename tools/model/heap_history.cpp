#include "tools/model/heap_history.h"

#include <algorithm>
#include <utility>

namespace vramscope {

HeapHistory::HeapHistory(const DeviceTrace& trace, size_t memory_bytes) : trace_(trace) {
  Heap heap(trace);
  keep(heap, memory_bytes);
  for (size_t i = 0; i < trace.events.size(); ++i) {
    heap.apply(trace.events[i]);
    if ((i + 1) % spacing_ == 0) keep(heap, memory_bytes);
  }
}

void HeapHistory::keep(const Heap& heap, size_t memory_bytes) {
  checkpoints_.push_back(heap);
  checkpoint_bytes_ += heap.memory_bytes();
  while (checkpoint_bytes_ > memory_bytes && checkpoints_.size() > 1) thin_out();
}

void HeapHistory::thin_out() {
  spacing_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < checkpoints_.size(); i += 2) {
    if (i != kept) checkpoints_[kept] = std::move(checkpoints_[i]);
    ++kept;
  }
  checkpoints_.erase(checkpoints_.begin() + static_cast<ptrdiff_t>(kept), checkpoints_.end());
  checkpoint_bytes_ = 0;
  for (const Heap& heap : checkpoints_) checkpoint_bytes_ += heap.memory_bytes();
}

Heap HeapHistory::after(size_t events) const {
  const size_t end = std::min(events, trace_.events.size());
  const size_t checkpoint = std::min(end / spacing_, checkpoints_.size() - 1);
  Heap heap = checkpoints_[checkpoint];
  for (size_t i = checkpoint * spacing_; i < end; ++i) heap.apply(trace_.events[i]);
  return heap;
}

Heap heap_after(const DeviceTrace& trace, size_t events) {
  Heap heap(trace);
  const size_t end = std::min(events, trace.events.size());
  for (size_t i = 0; i < end; ++i) heap.apply(trace.events[i]);
  return heap;
}

}  // namespace vramscope
