// The core's only export, which the shim calls; see core_interface.h.
#include "api.h"
#include "preload/frameworks/pytorch_blocks.h"
#include "preload/frameworks/steps.h"
#include "preload/hooks/driver_call.h"
#include "preload/hooks/families.h"
#include "preload/hooks/first_event.h"
#include "recorder/code_unloads.h"
#include "recorder/recorder.h"

namespace vramscope {
namespace {

constexpr void (*kFamilies[])(void** wrappers) = {
    attach_array_hooks,     attach_context_hooks, attach_external_hooks,       attach_graph_hooks,
    attach_host_hooks,      attach_ipc_hooks,     attach_linear_hooks,         attach_module_hooks,
    attach_multicast_hooks, attach_pool_hooks,    attach_stream_ordered_hooks, attach_vmm_hooks,
    attach_pytorch_hooks,   attach_step_hooks,
};

// Takes the dynamic linker's lock, so no other one may be held: a constructor that makes CUDA calls
// holds that lock, and may wait for ours. Threads that come here at once write the same values.
void look_around(const ShimServices* shim) {
  set_shim_services(shim);
  find_pytorch();
  static_assert(sizeof(code_unloads) == sizeof(uint64_t));
  shim->watch_unloads(reinterpret_cast<uint64_t*>(&code_unloads));
}

bool prepare_recorder() {
  set_api_names(kApiNames, kApiCount);
  set_thread_listener(after_first_event);
  return true;
}

// Others may still call hooks after this: their state is never destroyed.
[[gnu::destructor]] void finish() { finish_recording(); }

}  // namespace

extern "C" [[gnu::visibility("default")]] int vramscope_core_attach(const ShimServices* shim,
                                                                    void** wrappers) {
  if (shim->table_id != kHookTableId || shim->row_count != kApiCount) return 1;
  look_around(shim);
  [[maybe_unused]] static const bool prepared = prepare_recorder();
  for (const auto attach : kFamilies) attach(wrappers);
  return 0;
}

}  // namespace vramscope
