// What waits for a thread's first event.
#pragma once

#include "preload/cupti/cupti_loader.h"
#include "preload/frameworks/open_ranges.h"

namespace vramscope {

// The recorder's thread listener, which NVTX and the hooks set alike.
inline void after_first_event() {
  record_remembered_ranges();
  start_cupti_audit_if_asked();
}

}  // namespace vramscope
