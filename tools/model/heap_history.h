// The heap of one device at any moment of its trace, without a walk from the beginning.
//
//   HeapHistory history(trace);
//   Heap heap = history.after(9'000'000);  // events of the trace
//
// Some heaps of the way are kept as checkpoints; the way from the nearest one before is walked.
//
//   trace       |-----------|-----------|-----------|------
//   checkpoints 0           S           2 S         3 S        S: spacing
//                                           ^ after(i) = copy of checkpoint i / S, i % S events
//
// A checkpoint is a copy of the whole heap. Where they take more than the given memory, every other
// one is given up and the spacing doubles: large heaps and long traces have them further apart.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/model/heap.h"

namespace vramscope {

class HeapHistory {
 public:
  static constexpr size_t kDefaultMemoryBytes = size_t{128} << 20;
  static constexpr size_t kFirstSpacing = 4096;

  // Walks the trace once. `trace` must outlive the history, and stays as it is.
  explicit HeapHistory(const DeviceTrace& trace, size_t memory_bytes = kDefaultMemoryBytes);

  // The state after the first `events` events; of more than there are: after the last one.
  Heap after(size_t events) const;

  size_t spacing() const { return spacing_; }
  size_t checkpoints() const { return checkpoints_.size(); }

 private:
  void keep(const Heap& heap, size_t memory_bytes);
  void thin_out();

  const DeviceTrace& trace_;
  size_t spacing_ = kFirstSpacing;
  std::vector<Heap> checkpoints_;  // [i]: after i * spacing_ events; [0] always
  size_t checkpoint_bytes_ = 0;
};

// The same of a trace that is looked at once: a walk from the beginning.
Heap heap_after(const DeviceTrace& trace, size_t events);

}  // namespace vramscope
