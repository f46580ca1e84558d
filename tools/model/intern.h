// Tables that store each string, frame and stack once and name it by a small number.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace vramscope {

using StringId = uint32_t;  // 0: the empty string
using FrameId = uint32_t;
using StackId = uint32_t;  // 0: the empty stack

class StringPool {
 public:
  StringPool() { intern({}); }
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  StringId intern(std::string_view text);
  // Valid as long as the table.
  std::string_view at(StringId id) const { return strings_[id]; }
  size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;  // a deque: the keys below point into it
  std::unordered_map<std::string_view, StringId> ids_;
};

struct Frame {
  StringId name = 0;
  StringId filename = 0;
  int32_t line = 0;

  bool operator==(const Frame&) const = default;
};

class StackPool {
 public:
  StackPool();
  StackPool(StackPool&&) = delete;  // the lookup set points to this table

  FrameId intern(const Frame& frame);
  StackId intern(std::span<const FrameId> frames);  // innermost first

  const Frame& frame(FrameId id) const { return frames_[id]; }
  std::span<const FrameId> frames(StackId id) const {
    return {pool_.data() + stacks_[id].begin, stacks_[id].count};
  }
  size_t stack_count() const { return stacks_.size(); }
  size_t frame_count() const { return frames_.size(); }

 private:
  struct Range {
    size_t begin;
    uint32_t count;
  };
  struct FrameHash {
    size_t operator()(const Frame& frame) const;
  };
  // Looks stacks up by their frames, so that a stack that is known costs no copy.
  struct StackHash {
    using is_transparent = void;
    const StackPool* table;
    size_t operator()(std::span<const FrameId> frames) const;
    size_t operator()(StackId id) const { return (*this)(table->frames(id)); }
  };
  struct StackEqual {
    using is_transparent = void;
    const StackPool* table;
    bool operator()(StackId a, StackId b) const { return a == b; }
    bool operator()(std::span<const FrameId> a, StackId b) const;
    bool operator()(StackId a, std::span<const FrameId> b) const { return (*this)(b, a); }
  };

  std::vector<Frame> frames_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::vector<FrameId> pool_;
  std::vector<Range> stacks_;
  std::unordered_set<StackId, StackHash, StackEqual> stack_ids_;
};

}  // namespace vramscope
