#include "recorder/stacks/trace_index.h"

#include <algorithm>
#include <utility>

namespace vramscope {

TraceIndex::Entry* TraceIndex::put(const Entry& entry, const Entry* kept) {
  Entry& first = entries_[place(entry.key)];
  Entry& second = entries_[place(entry.key) ^ 1];
  const bool second_is_better = first.key != 0 && second.key == 0;
  Entry* chosen = &first == kept || second_is_better ? &second : &first;
  if (first.key == entry.key) chosen = &first;
  if (second.key == entry.key) chosen = &second;
  if (chosen->key == 0) ++used_;
  *chosen = entry;
  return chosen;
}

bool TraceIndex::make_room(size_t more, StackArena& arena) {
  if (used_ + more <= count_ / 2 || count_ == kMaxEntries) return true;
  const size_t count = count_ == 0 ? kFirstEntries : count_ * 2;
  auto* grown = static_cast<Entry*>(arena.allocate(count * sizeof(Entry)));
  if (grown == nullptr) return false;
  std::fill_n(grown, count, Entry{});
  const Entry* old = std::exchange(entries_, grown);
  const size_t old_count = std::exchange(count_, count);
  shift_ = 64 - std::countr_zero(count);
  used_ = 0;
  for (size_t i = 0; i < old_count; ++i) {
    if (old[i].key != 0) put(old[i]);
  }
  return true;
}

}  // namespace vramscope
