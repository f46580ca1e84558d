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
#include <memory>
#include <span>
#include <vector>

namespace vramscope {

// Belongs to one thread. Allocates in insert() only; may throw std::bad_alloc there.
class StackTable {
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
    friend class StackTable;
    uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
    const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
  };

  // `limit_bytes` bounds the memory of all stacks together. When it is reached everything is
  // forgotten: stacks then get new ids, which costs definitions and is otherwise harmless.
  explicit StackTable(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  static uint64_t hash(std::span<const uint64_t> keys);

  // `hash`: hash(keys). nullptr if it is not there.
  Stack* find(std::span<const uint64_t> keys, uint64_t hash);

  // Adds a stack that is not there. Pointers to other entries are void afterwards.
  void insert(std::span<const uint64_t> keys, std::span<const uint64_t> notes, uint64_t hash,
              uint32_t id);

  // Takes an entry out, because what its keys stood for is gone.
  void erase(Stack* stack);

  void clear();

  size_t size() const { return size_; }

 private:
  void* allocate(size_t bytes);
  void grow_buckets();
  Stack*& bucket(uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }

  size_t limit_bytes_;
  size_t used_bytes_ = 0;
  size_t size_ = 0;
  std::vector<Stack*> buckets_;  // a power of two
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* free_begin_ = nullptr;  // in the newest chunk
  std::byte* free_end_ = nullptr;
};

}  // namespace vramscope
