// A hash table from 64-bit keys to words, for caches: an entry lies in one of two neighbouring
// places, so that a search looks at one cache line; a new entry may push out an old one.
#pragma once

#include <bit>
#include <cstdint>

#include "recorder/stacks/stack_memory.h"

namespace vramscope {

// Belongs to one thread. Its memory is the arena's: clear() both together.
class TraceIndex {
 public:
  struct Entry {
    uint64_t key;  // 0: empty
    uint64_t target;
  };

  // nullptr: not there. `key`: any but 0.
  const Entry* find(uint64_t key) const {
    if (count_ == 0) [[unlikely]] {
      return nullptr;
    }
    const Entry* entry = &entries_[place(key)];
    if (entry->key == key) [[likely]] {
      return entry;
    }
    entry = &entries_[place(key) ^ 1];
    return entry->key == key ? entry : nullptr;
  }

  // Before put(): room for `more` entries. False: the arena gives no more memory.
  bool make_room(size_t more, StackArena& arena);

  // Overwrites what has the key; else fills one of its places, but never that of `kept`.
  Entry* put(const Entry& entry, const Entry* kept = nullptr);

  void clear() { *this = {}; }

  size_t entry_count() const { return count_; }

 private:
  static constexpr size_t kFirstEntries = 512;
  static constexpr size_t kMaxEntries = StackArena::kLargestAllocation / sizeof(Entry);

  size_t place(uint64_t key) const { return key >> shift_; }

  Entry* entries_ = nullptr;
  size_t count_ = 0;  // a power of two
  int shift_ = 0;     // 64 - log2(count_): the high bits of a key choose its place
  size_t used_ = 0;
};

// For keys: multiplies, and folds the high bits down.
inline uint64_t mix_key(uint64_t key) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  const uint64_t product = key * kGoldenRatio;
  return product ^ product >> 29;
}

}  // namespace vramscope
