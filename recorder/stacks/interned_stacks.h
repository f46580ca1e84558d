// Exact interning: one id for each different sequence of words (the frames of a stack).
//
//   buckets_[hash] -> Stack -> Stack -> ...      Stack: | next hash id counts | keys... | notes...
//   |
//
// The keys are what is compared, word by word: two stacks never share an id because of their hash.
// The notes are the owner's, to check that an entry still means what it meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/stacks/stack_memory.h"

namespace vramscope {

// Belongs to one thread. Allocates in insert() only. When there is no more memory everything is
// forgotten: stacks then get new ids, which costs definitions and is otherwise harmless.
class InternedStacks {
 public:
  struct Stack {
    Stack* next;
    uint64_t hash;
    uint32_t id;
    uint32_t key_count;
    uint32_t note_count;

    std::span<const uint64_t> keys() const { return {words(), key_count}; }
    std::span<uint64_t> notes() { return {words() + key_count, note_count}; }

   private:
    friend class InternedStacks;
    uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
    const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  };

  static uint64_t hash(std::span<const uint64_t> keys);

  // `hash`: hash(keys). nullptr if it is not there.
  Stack* find(std::span<const uint64_t> keys, uint64_t hash);

  // Adds a stack that is not there. nullptr: there is no memory for it at all. Entries stay where
  // they are, erased ones too, unless everything had to be forgotten: then size() has not grown.
  Stack* insert(std::span<const uint64_t> keys, std::span<const uint64_t> notes, uint64_t hash,
                uint32_t id);

  // Takes an entry out, because what its keys stood for is gone.
  void erase(Stack* stack);

  void clear();

  size_t size() const { return size_; }

 private:
  static constexpr size_t kFirstBuckets = 256;
  static constexpr size_t kMaxBuckets = StackArena::kLargestAllocation / sizeof(void*);

  Stack* allocate(size_t bytes);
  bool grow_buckets();
  Stack*& bucket(uint64_t hash) { return buckets_[hash & (bucket_count_ - 1)]; }

  StackArena memory_;
  Stack** buckets_ = nullptr;
  size_t bucket_count_ = 0;  // a power of two
  size_t size_ = 0;
};

}  // namespace vramscope
