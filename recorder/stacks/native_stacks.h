// Ids for the native stacks of one thread.
//
//   traces_: walked before? --yes--> id
//     `--no--> walk by rules, or by libgcc --> table_: known? --yes--> id
//                                                 `--no--> define modules and stack --> id
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recorder/code_unloads.h"
#include "recorder/definition_sink.h"
#include "recorder/stacks/frame_walk.h"
#include "recorder/stacks/interned_stacks.h"
#include "recorder/stacks/libgcc_unwinder.h"
#include "recorder/stacks/module_map.h"
#include "recorder/stacks/trace_cache.h"

namespace vramscope {

// Belongs to one thread, which makes it. May throw std::bad_alloc for a stack that it has not seen
// before.
class NativeStacks {
 public:
  // `hint`: anything that tends to differ between stacks, such as the id of the Python stack.
  uint32_t capture(const CallSite& site, uint64_t hint, DefinitionSink& sink) {
    const uint64_t unloads = code_unloads.load(std::memory_order_acquire);
    const uint32_t known = traces_.find(site, hint, unloads);
    if (known == 0) return capture_by_walking(site, unloads, sink);
    was_walked_by_libgcc_ = false;
    return known;
  }

  void forget();

  // Whether _Unwind_Backtrace names the very stack that capture() has just given `id` to; else a
  // warning says where they differ. Only to be asked if is_comparable().
  bool agrees_with_libgcc(const CallSite& site, uint32_t id);
  // Not where _Unwind_Backtrace has walked the stack itself, nor where it would not survive to.
  bool is_comparable(const CallSite& site);

 private:
  [[gnu::noinline]] uint32_t capture_by_walking(const CallSite& site, uint64_t unloads,
                                                DefinitionSink& sink);
  uint32_t intern(std::span<const uint64_t> addresses, bool truncated, DefinitionSink& sink);
  uint32_t define(std::span<const uint64_t> addresses, bool truncated, DefinitionSink& sink);
  bool is_current(InternedStacks::Stack& stack) const;

  TraceCache traces_{ThreadStack::of_calling_thread()};
  InternedStacks table_;  // every id of traces_ is in it
  ModuleMap modules_;
  std::vector<uint64_t> notes_;  // of a stack: indexes of the modules that it lies in
  bool was_walked_by_libgcc_ = false;
  // Apart from what every capture needs, and not initialised: most of it is never touched.
  struct Walked {
    uint64_t addresses[kMaxNativeFrames];
    FrameReads reads[kMaxNativeFrames];
  };
  const std::unique_ptr<Walked> walked_{new Walked};
};

}  // namespace vramscope
