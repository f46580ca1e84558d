#include "recorder/stacks/native_stacks.h"

#include <algorithm>

#include "recorder/stacks/stack_ids.h"

namespace vramscope {

uint32_t NativeStacks::capture(const CallSite& site, DefinitionSink& sink) {
  const NativeWalk walk = walk_native_frames(site, addresses_);
  const std::span<const uint64_t> addresses(addresses_, walk.count);
  const uint64_t hash = StackTable::hash(addresses);
  if (StackTable::Stack* known = table_.find(addresses, hash)) {
    if (is_current(*known)) return known->id;
    table_.erase(known);
  }
  const uint32_t id = define(addresses, walk.truncated, sink);
  if (id != 0) table_.insert(addresses, notes_, hash, id);
  return id;
}

// A library of the stack may have been closed and another one may lie at its addresses.
bool NativeStacks::is_current(StackTable::Stack& stack) const {
  return std::ranges::all_of(stack.notes(), [this](uint64_t index) {
    return modules_.is_loaded(static_cast<uint32_t>(index));
  });
}

// 0 if the ring has no room for a definition. Leaves the stack's notes in notes_.
uint32_t NativeStacks::define(std::span<const uint64_t> addresses, bool truncated,
                              DefinitionSink& sink) {
  notes_.clear();
  for (const uint64_t address : addresses) {
    uint32_t module;
    // A call as the last instruction of a function returns to the next one, perhaps of another
    // module: the byte before belongs to the caller.
    if (!modules_.find_or_define(address - 1, sink, module)) return 0;
    if (module == ModuleMap::kNone || std::ranges::find(notes_, module) != notes_.end()) continue;
    notes_.push_back(module);
  }
  const uint32_t id = next_id(stack_ids.last_native_stack);
  const bool written = sink.define(RecordKind::kNativeStack, id, {std::as_bytes(addresses)},
                                   truncated ? kTruncatedDefinition : uint8_t{0});
  return written ? id : 0;
}

}  // namespace vramscope
