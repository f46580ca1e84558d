// The families of hooked driver entry points: each puts its wrappers into wrappers[api].
#pragma once

namespace vramscope {

void attach_array_hooks(void** wrappers);
void attach_context_hooks(void** wrappers);
void attach_external_hooks(void** wrappers);
void attach_graph_hooks(void** wrappers);
void attach_host_hooks(void** wrappers);
void attach_ipc_hooks(void** wrappers);
void attach_linear_hooks(void** wrappers);
void attach_module_hooks(void** wrappers);
void attach_multicast_hooks(void** wrappers);
void attach_pool_hooks(void** wrappers);
void attach_stream_ordered_hooks(void** wrappers);
void attach_vmm_hooks(void** wrappers);

}  // namespace vramscope
