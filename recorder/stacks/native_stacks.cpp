#include "recorder/stacks/native_stacks.h"

#include <algorithm>
#include <memory>

#include "recorder/log.h"
#include "recorder/stacks/stack_ids.h"

namespace vramscope {

void NativeStacks::forget() {
  traces_.clear();
  table_.clear();
  modules_.forget();
}

uint32_t NativeStacks::capture_by_walking(const CallSite& site, uint64_t unloads,
                                          DefinitionSink& sink) {
  const FrameWalk walk = walk_frames(site, traces_.stack(), walked_->addresses, walked_->reads);
  was_walked_by_libgcc_ = walk.result == FrameWalk::Result::kUnsupported;
  if (was_walked_by_libgcc_) {
    const NativeWalk reference = walk_by_libgcc(site, walked_->addresses);
    return intern({walked_->addresses, reference.count}, reference.truncated, sink);
  }
  const uint32_t id =
      intern({walked_->addresses, walk.count}, walk.result != FrameWalk::Result::kComplete, sink);
  if (id != 0 && !walk.is_volatile)
    traces_.remember(site, {walked_->reads, walk.count}, id, unloads);
  return id;
}

uint32_t NativeStacks::intern(std::span<const uint64_t> addresses, bool truncated,
                              DefinitionSink& sink) {
  const uint64_t hash = InternedStacks::hash(addresses);
  if (InternedStacks::Stack* known = table_.find(addresses, hash)) {
    if (is_current(*known)) return known->id;
    table_.erase(known);
  }
  const uint32_t id = define(addresses, truncated, sink);
  if (id == 0) return 0;
  const size_t size_before = table_.size();
  if (table_.insert(addresses, notes_, hash, id) == nullptr) return 0;
  if (table_.size() <= size_before) traces_.clear();  // the table has forgotten what it held
  return id;
}

// A library of the stack may have been closed and another one may lie at its addresses.
bool NativeStacks::is_current(InternedStacks::Stack& stack) const {
  return std::ranges::all_of(stack.notes(), [this](uint64_t index) {
    return modules_.is_loaded(static_cast<uint32_t>(index));
  });
}

// 0 if the ring has no room for a definition. Leaves the stack's notes in notes_.
uint32_t NativeStacks::define(std::span<const uint64_t> addresses, bool truncated,
                              DefinitionSink& sink) {
  notes_.clear();
  for (const uint64_t address : addresses) {
    // A call as the last instruction of a function returns to the next one, perhaps of another
    // module: the byte before belongs to the caller.
    const uint64_t call = address - 1;
    // Most frames lie in a module that this stack was in before.
    const auto holds_call = [&](uint64_t module) {
      return modules_.holds(static_cast<uint32_t>(module), call);
    };
    if (std::ranges::any_of(notes_, holds_call)) continue;
    uint32_t module;
    if (!modules_.find_or_define(call, sink, module)) return 0;
    if (module != ModuleMap::kNone) notes_.push_back(module);
  }
  const uint32_t id = next_id(stack_ids.last_native_stack);
  const bool written = sink.define(RecordKind::kNativeStack, id, {std::as_bytes(addresses)},
                                   truncated ? kTruncatedDefinition : uint8_t{0});
  return written ? id : 0;
}

bool NativeStacks::is_comparable(const CallSite& site) {
  if (was_walked_by_libgcc_) return false;
  const FrameWalk walk = walk_frames(site, traces_.stack(), walked_->addresses, walked_->reads);
  if (walk.result == FrameWalk::Result::kLost) return false;
  return walk.count == 0 || is_readable_code(walked_->addresses[walk.count - 1]);
}

bool NativeStacks::agrees_with_libgcc(const CallSite& site, uint32_t id) {
  const NativeWalk reference = walk_by_libgcc(site, walked_->addresses);
  const std::span<const uint64_t> addresses(walked_->addresses, reference.count);
  const InternedStacks::Stack* known = table_.find(addresses, InternedStacks::hash(addresses));
  if (known != nullptr && known->id == id) return true;

  const auto own = std::make_unique<uint64_t[]>(kMaxNativeFrames);
  const FrameWalk walk =
      walk_frames(site, traces_.stack(), {own.get(), kMaxNativeFrames}, walked_->reads);
  const auto [a, b] = std::ranges::mismatch(std::span(own.get(), walk.count), addresses);
  const auto frame = static_cast<size_t>(b - addresses.begin());
  const auto address_at = [frame](std::span<const uint64_t> frames) {
    return static_cast<unsigned long long>(frame < frames.size() ? frames[frame] : 0);
  };
  log_warning(
      "native stack %u differs from _Unwind_Backtrace: frame %zu of %zu and %zu is %#llx, not "
      "%#llx (called from %#llx)",
      id, frame, walk.count, addresses.size(), address_at({own.get(), walk.count}),
      address_at(addresses),
      static_cast<unsigned long long>(frame == 0 ? 0 : addresses[frame - 1]));
  return false;
}

}  // namespace vramscope
