#include "tools/model/recording.h"

namespace vramscope {

const char* block_state_name(BlockState state) {
  static constexpr const char* kNames[] = {"active_allocated", "active_pending_free", "inactive"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace vramscope
