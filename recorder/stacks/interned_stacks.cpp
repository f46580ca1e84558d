#include "recorder/stacks/interned_stacks.h"

#include <algorithm>
#include <new>
#include <utility>

namespace vramscope {

uint64_t InternedStacks::hash(std::span<const uint64_t> keys) {
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

InternedStacks::Stack* InternedStacks::find(std::span<const uint64_t> keys, uint64_t hash) {
  if (bucket_count_ == 0) return nullptr;
  for (Stack* stack = bucket(hash); stack != nullptr; stack = stack->next) {
    if (stack->hash == hash && stack->key_count == keys.size() &&
        std::ranges::equal(stack->keys(), keys)) {
      return stack;
    }
  }
  return nullptr;
}

InternedStacks::Stack* InternedStacks::insert(std::span<const uint64_t> keys,
                                              std::span<const uint64_t> notes, uint64_t hash,
                                              uint32_t id) {
  Stack* stack = allocate(sizeof(Stack) + (keys.size() + notes.size()) * sizeof(uint64_t));
  if (stack == nullptr) return nullptr;
  new (stack) Stack{};
  stack->hash = hash;
  stack->id = id;
  stack->key_count = static_cast<uint32_t>(keys.size());
  stack->note_count = static_cast<uint32_t>(notes.size());
  std::ranges::copy(keys, stack->words());
  std::ranges::copy(notes, stack->words() + keys.size());
  stack->next = bucket(hash);
  bucket(hash) = stack;
  ++size_;
  return stack;
}

void InternedStacks::erase(Stack* stack) {
  // Its memory comes back with clear() only: dead stacks are rare, and the table is bounded.
  Stack** link = &bucket(stack->hash);
  while (*link != stack) link = &(*link)->next;
  *link = stack->next;
  --size_;
}

void InternedStacks::clear() {
  memory_.clear();
  buckets_ = nullptr;
  bucket_count_ = size_ = 0;
}

// Memory for one more stack, and a bucket for it; the second try has forgotten everything.
InternedStacks::Stack* InternedStacks::allocate(size_t bytes) {
  for (int round = 0; round < 2; ++round) {
    if (size_ < bucket_count_ || bucket_count_ == kMaxBuckets || grow_buckets()) {
      if (void* memory = memory_.allocate(bytes)) return static_cast<Stack*>(memory);
    }
    clear();
  }
  return nullptr;
}

bool InternedStacks::grow_buckets() {
  const size_t count = bucket_count_ == 0 ? kFirstBuckets : bucket_count_ * 2;
  auto* grown = static_cast<Stack**>(memory_.allocate(count * sizeof(void*)));
  if (grown == nullptr) return false;
  std::fill_n(grown, count, nullptr);
  Stack** old = std::exchange(buckets_, grown);
  const size_t old_count = std::exchange(bucket_count_, count);
  for (size_t i = 0; i < old_count; ++i) {
    for (Stack* stack = old[i]; stack != nullptr;) {
      Stack* next = stack->next;
      stack->next = bucket(stack->hash);
      bucket(stack->hash) = stack;
      stack = next;
    }
  }
  return true;
}

}  // namespace vramscope
