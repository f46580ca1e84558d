#include "recorder/stacks/stack_table.h"

#include <algorithm>
#include <new>

namespace vramscope {
namespace {

constexpr size_t kFirstBuckets = 256;
constexpr size_t kChunkBytes = 64 << 10;

}  // namespace

uint64_t StackTable::hash(std::span<const uint64_t> keys) {
  // Fibonacci hashing a word at a time; the high bits carry the mix, so they are folded down.
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  uint64_t hash = keys.size();
  for (const uint64_t key : keys) {
    hash = (hash ^ key) * kGoldenRatio;
    hash ^= hash >> 32;
  }
  return hash;
}

StackTable::Stack* StackTable::find(std::span<const uint64_t> keys, uint64_t hash) {
  if (buckets_.empty()) return nullptr;
  for (Stack* stack = bucket(hash); stack != nullptr; stack = stack->next) {
    if (stack->hash == hash && std::ranges::equal(stack->keys(), keys)) return stack;
  }
  return nullptr;
}

void StackTable::insert(std::span<const uint64_t> keys, std::span<const uint64_t> notes,
                        uint64_t hash, uint32_t id) {
  const size_t bytes = sizeof(Stack) + (keys.size() + notes.size()) * sizeof(uint64_t);
  if (used_bytes_ + bytes > limit_bytes_) clear();
  if (size_ >= buckets_.size()) grow_buckets();
  Stack* stack = new (allocate(bytes)) Stack{};
  stack->hash = hash;
  stack->id = id;
  stack->key_count = static_cast<uint32_t>(keys.size());
  stack->note_count = static_cast<uint32_t>(notes.size());
  std::ranges::copy(keys, stack->words());
  std::ranges::copy(notes, stack->words() + keys.size());
  stack->next = bucket(hash);
  bucket(hash) = stack;
  ++size_;
}

void StackTable::erase(Stack* stack) {
  // Its memory comes back with clear() only: dead stacks are rare, and the table is bounded.
  Stack** link = &bucket(stack->hash);
  while (*link != stack) link = &(*link)->next;
  *link = stack->next;
  --size_;
}

void StackTable::clear() {
  buckets_.clear();
  chunks_.clear();
  free_begin_ = free_end_ = nullptr;
  used_bytes_ = size_ = 0;
}

void* StackTable::allocate(size_t bytes) {
  if (static_cast<size_t>(free_end_ - free_begin_) < bytes) {
    const size_t chunk_bytes = std::max(bytes, kChunkBytes);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes));
    free_begin_ = chunks_.back().get();
    free_end_ = free_begin_ + chunk_bytes;
  }
  used_bytes_ += bytes;
  void* memory = free_begin_;
  free_begin_ += bytes;
  return memory;
}

void StackTable::grow_buckets() {
  std::vector<Stack*> old(std::max(kFirstBuckets, buckets_.size() * 2));
  old.swap(buckets_);
  for (Stack* stack : old) {
    while (stack != nullptr) {
      Stack* next = stack->next;
      stack->next = bucket(stack->hash);
      bucket(stack->hash) = stack;
      stack = next;
    }
  }
}

}  // namespace vramscope
