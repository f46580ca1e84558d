// Settings of the current context: limits, caches, priorities, peers. None changes what the model
// does, but programs read back what they set.
#include <map>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

// Defaults as CUDA documents them; values are kept for the whole process.
std::map<CUlimit, size_t>& limits() {
  static auto* values =
      new std::map<CUlimit, size_t>{{CU_LIMIT_STACK_SIZE, 1024},
                                    {CU_LIMIT_PRINTF_FIFO_SIZE, 7 << 20},
                                    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
                                    {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
                                    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
                                    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
                                    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
  return *values;
}

CUresult with_current_context(auto body) {
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    return body(state, *context);
  });
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return with_current_context([&](Driver&, const Context&) {
    const auto it = limits().find(limit);
    if (it == limits().end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = it->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return with_current_context([&](Driver&, const Context&) {
    if (!limits().count(limit)) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    limits()[limit] = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuCtxResetPersistingL2Cache() { return CUDA_SUCCESS; }

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return with_current_context([&](Driver&, const Context&) {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return with_current_context([&](Driver& state, const Context& context) {
    const Context* peer = state.find_context(handle);
    if (!peer || peer->device == context.device) return CUDA_ERROR_INVALID_CONTEXT;
    const bool fresh = state.devices[context.device].peers.insert(peer->device).second;
    return fresh ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return with_current_context([&](Driver& state, const Context& context) {
    const Context* peer = state.find_context(handle);
    if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
    const bool was_enabled = state.devices[context.device].peers.erase(peer->device) > 0;
    return was_enabled ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}
