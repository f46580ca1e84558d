// Address ranges of modules: which of them a native frame lies in.
#pragma once

#include <cstdint>
#include <map>

namespace vramscope {

constexpr uint32_t kNoModule = UINT32_MAX;

class ModuleRanges {
 public:
  // Where the range overlaps older ones (a library was loaded over an unloaded one) it covers them.
  void add(uint64_t begin, uint64_t end, uint32_t module);

  // The module that the call before `return_address` lies in, or kNoModule.
  uint32_t find(uint64_t return_address) const;

  void clear() { ranges_.clear(); }

 private:
  struct Range {
    uint64_t end;
    uint32_t module;
  };
  std::map<uint64_t, Range> ranges_;  // by begin, disjoint
};

}  // namespace vramscope
