#include "tools/model/intern.h"

#include <algorithm>

namespace vramscope {
namespace {

// A multiply-xorshift step: cheap, and good enough for tables that compare what they find.
uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace

StringId StringPool::intern(std::string_view text) {
  const auto known = ids_.find(text);
  if (known != ids_.end()) return known->second;
  const auto id = static_cast<StringId>(strings_.size());
  ids_.emplace(strings_.emplace_back(text), id);
  return id;
}

StackPool::StackPool() : stack_ids_(16, StackHash{this}, StackEqual{this}) {
  intern(std::span<const FrameId>{});
}

size_t StackPool::FrameHash::operator()(const Frame& frame) const {
  return mix(mix(frame.name, frame.filename), static_cast<uint32_t>(frame.line));
}

size_t StackPool::StackHash::operator()(std::span<const FrameId> frames) const {
  uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = mix(hash, frame);
  return hash;
}

bool StackPool::StackEqual::operator()(std::span<const FrameId> a, StackId b) const {
  return std::ranges::equal(a, table->frames(b));
}

FrameId StackPool::intern(const Frame& frame) {
  const auto [entry, added] = frame_ids_.try_emplace(frame, static_cast<FrameId>(frames_.size()));
  if (added) frames_.push_back(frame);
  return entry->second;
}

StackId StackPool::intern(std::span<const FrameId> frames) {
  const auto known = stack_ids_.find(frames);
  if (known != stack_ids_.end()) return *known;
  const auto id = static_cast<StackId>(stacks_.size());
  stacks_.push_back({pool_.size(), static_cast<uint32_t>(frames.size())});
  pool_.insert(pool_.end(), frames.begin(), frames.end());
  stack_ids_.insert(id);
  return id;
}

}  // namespace vramscope
