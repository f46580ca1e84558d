#include "recorder/stacks/stack_table.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace vramscope {
namespace {

constexpr size_t kFirstBuckets = 256;
constexpr size_t kChunkBytes = 64 << 10;

}  // namespace

uint64_t StackTable::hash(std::span<const uint64_t> keys) {
  // Fibonacci hashing in four independent lanes: one multiplication waits for the last of its lane
  // only, so that four are under way at a time. The high bits carry the mix and are folded down.
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  constexpr size_t kLanes = 4;
  const auto mix = [](uint64_t lane, uint64_t key) {
    const uint64_t product = (lane ^ key) * kGoldenRatio;
    return product ^ product >> 32;
  };
  uint64_t lanes[kLanes] = {1, 2, 3, keys.size()};
  size_t i = 0;
  for (; i + kLanes <= keys.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = mix(lanes[lane], keys[i + lane]);
  }
  for (; i < keys.size(); ++i) lanes[i % kLanes] = mix(lanes[i % kLanes], keys[i]);
  uint64_t hash = 0;
  for (const uint64_t lane : lanes) hash = mix(hash, lane);
  return hash;
}

StackTable::Stack* StackTable::find(std::span<const uint64_t> keys, uint64_t hash) {
  if (buckets_.empty()) return nullptr;
  for (Stack* stack = bucket(hash); stack != nullptr; stack = stack->next) {
    if (stack->hash == hash && stack->key_count == keys.size() &&
        std::memcmp(stack->words(), keys.data(), keys.size_bytes()) == 0) {
      return stack;
    }
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
