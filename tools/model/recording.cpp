#include "tools/model/recording.h"

namespace vramscope {

const char* action_name(Action action) {
  static constexpr const char* kNames[kActionCount] = {
      "segment_alloc",  "segment_free",   "segment_map", "segment_unmap", "alloc",
      "free_requested", "free_completed", "oom",         "snapshot"};
  return kNames[static_cast<size_t>(action)];
}

const char* block_state_name(BlockState state) {
  static constexpr const char* kNames[] = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace vramscope
