#include "tools/model/pending_frees.h"

namespace vramscope {

void PendingFrees::alloc(const TraceEvent& block) {
  if (!waiting_.empty()) complete_in(block, block);
  complete_oldest(block);
}

void PendingFrees::give_back(const TraceEvent& event) {
  const Heap::LiveBlock* block = builder_.heap().blocks().find(event.address);
  const bool waits = block != nullptr && told_bytes_ && *told_bytes_ >= block->size &&
                     *told_bytes_ > waiting_bytes_;
  if (!waits) {
    complete_oldest(event);
    return builder_.free(event);
  }
  const uint64_t size = block->size;
  *told_bytes_ -= size;
  complete_oldest(event);  // of those before it
  builder_.request_free(event);
  waiting_.push_back({size, event});
  waiting_bytes_ += size;
}

void PendingFrees::complete_in(const TraceEvent& range, const TraceEvent& now) {
  for (auto block = waiting_.begin(); block != waiting_.end();) {
    const uint64_t begin = block->cause.address;
    const bool apart = begin < range.address ? range.address - begin >= block->size
                                             : begin - range.address >= range.size;
    block = apart ? block + 1 : complete(block, now);
  }
}

void PendingFrees::complete_oldest(const TraceEvent& now) {
  if (!told_bytes_) return;
  for (auto block = waiting_.begin(); block != waiting_.end() && waiting_bytes_ > *told_bytes_;) {
    const bool is_done = block->size <= waiting_bytes_ - *told_bytes_;
    block = is_done ? complete(block, now) : block + 1;
  }
  told_bytes_.reset();
}

std::deque<PendingFrees::Waiting>::iterator PendingFrees::complete(
    const std::deque<Waiting>::iterator& block, const TraceEvent& now) {
  TraceEvent done = block->cause;
  done.time_us = now.time_us;
  builder_.complete_free(done);
  waiting_bytes_ -= block->size;
  return waiting_.erase(block);
}

}  // namespace vramscope
