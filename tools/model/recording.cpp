#include "tools/model/recording.h"

namespace vramscope {

const char* block_state_name(BlockState state) {
  static constexpr const char* kNames[] = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<size_t>(state)];
}

const char* range_kind_name(RangeKind kind) {
  static constexpr const char* kNames[] = {"push", "start", "mark", "step", "zero_grad"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace vramscope
