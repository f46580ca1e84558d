// Stream-ordered memory and its pools.
#include <cstring>

#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/sharing.h"

namespace simgpu {
namespace {

MemoryPool* pool_of(CUmemoryPool handle) { return object_of<MemoryPool>(handle); }

// body(state, call, pool) for a call about a live pool; 1 otherwise.
CUresult pool_call(const char* api, CUmemoryPool handle, uint64_t size, auto body) {
  return memory_call({.api = api, .size = size, .handle = number_of(handle)},
                     [&](Driver& state, MemoryCall&) {
                       MemoryPool* pool = pool_of(handle);
                       if (!state.memory.is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
                       return body(state, *pool);
                     });
}

// A call that answers one of a device's pools: choose(state, ordinal) -> pool.
CUresult answer_pool(const char* api, CUmemoryPool* handle, int ordinal, auto choose) {
  return memory_call({.api = api}, [&](Driver& state, MemoryCall& call) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    MemoryPool* pool = choose(state);
    *handle = handle_of<CUmemoryPool>(pool);
    call.handle = number_of(pool);
    return CUDA_SUCCESS;
  });
}

CUresult set_current_pool(const char* api, int ordinal, CUmemoryPool handle) {
  return memory_call(
      {.api = api, .handle = number_of(handle)}, [&](Driver& state, MemoryCall& call) {
        if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
        call.device = ordinal;
        MemoryPool* pool = pool_of(handle);
        if (!state.memory.is_pool(pool) || pool->device() != ordinal || pool->imported.file)
          return CUDA_ERROR_INVALID_VALUE;
        state.memory.set_current_pool(ordinal, pool);
        return CUDA_SUCCESS;
      });
}

// Allocates for a stream: from `pool`, or where it is null from the device's current pool; under
// capture always from the graph's memory, and as a node of the graph.
CUresult allocate(Driver& state, MemoryCall& call, CUdeviceptr* address, uint64_t bytes,
                  CUstream stream_handle, MemoryPool* pool) {
  Stream* stream = nullptr;
  if (const CUresult result = find_stream(state, stream_handle, &stream)) return result;
  call.device = pool ? pool->device() : stream->device;
  if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (!pool) pool = state.memory.current_pool(stream->device);
  if (stream->capture) {
    if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    pool = state.memory.graph_pool(stream->device);
  }
  const Status status = state.memory.allocate_from_pool(*pool, bytes, &call.address);
  if (status != Status::kSuccess) return result_of(status);
  *address = call.address;
  if (stream->capture) {
    return result_of(state.captures.add(*stream, NodeType::kMemAlloc, {}, 0, ""));
  }
  state.devices[stream->device].timeline.enqueue(*stream, simgpu_clock.now(), 0,
                                                 state.configuration.lag_calls);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return memory_call({.api = "cuMemAllocAsync", .size = bytes, .stream = number_of(stream)},
                     [&](Driver& state, MemoryCall& call) {
                       return allocate(state, call, address, bytes, stream, nullptr);
                     });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle,
                                 CUstream stream) {
  return memory_call({.api = "cuMemAllocFromPoolAsync",
                      .size = bytes,
                      .stream = number_of(stream),
                      .handle = number_of(handle)},
                     [&](Driver& state, MemoryCall& call) {
                       MemoryPool* pool = pool_of(handle);
                       if (!state.memory.is_pool(pool) || pool->imported.file)
                         return CUDA_ERROR_INVALID_VALUE;
                       return allocate(state, call, address, bytes, stream, pool);
                     });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream_handle) {
  return memory_call(
      {.api = "cuMemFreeAsync", .address = address, .stream = number_of(stream_handle)},
      [&](Driver& state, MemoryCall&) {
        Stream* stream = nullptr;
        if (const CUresult result = find_stream(state, stream_handle, &stream)) return result;
        if (address == 0) return CUDA_SUCCESS;
        const Allocation* allocation = state.memory.allocations().find(address);
        const bool imported = allocation && allocation->kind == MemoryKind::kImported;
        const bool freeable = imported || (allocation && (allocation->kind == MemoryKind::kPooled ||
                                                          allocation->kind == MemoryKind::kLinear));
        if (!freeable) return CUDA_ERROR_INVALID_VALUE;
        if (stream->capture) {
          // Freed even where the capture was invalidated: callers free in destructors.
          state.captures.add(*stream, NodeType::kMemFree, {}, 0, "");
        } else {
          state.devices[stream->device].timeline.enqueue(*stream, simgpu_clock.now(), 0,
                                                         state.configuration.lag_calls);
        }
        // The memory is free at once: streams only differ in time here, and what reuses it comes
        // later in any order.
        return result_of(imported ? state.shared_memory.free_pooled(address)
                                  : state.memory.release(address));
      });
}

CUresult cuMemPoolCreate(CUmemoryPool* handle, const CUmemPoolProps* properties) {
  return memory_call({.api = "cuMemPoolCreate"}, [&](Driver& state, MemoryCall& call) {
    if (!handle || !properties) return CUDA_ERROR_INVALID_VALUE;
    const bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (on_device && !is_device(state, properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = on_device ? properties->location.id : -1;
    if (!can_be_exported_as(properties->handleTypes)) return CUDA_ERROR_NOT_SUPPORTED;
    MemoryPool* pool = state.memory.create_pool(call.device);
    pool->is_exportable = properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    *handle = handle_of<CUmemoryPool>(pool);
    call.handle = number_of(pool);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return pool_call("cuMemPoolDestroy", handle, 0, [](Driver& state, MemoryPool& pool) {
    return result_of(state.memory.destroy_pool(&pool));
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep_bytes) {
  return pool_call("cuMemPoolTrimTo", handle, keep_bytes, [&](Driver&, MemoryPool& pool) {
    pool.trim(keep_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return pool_call("cuMemPoolSetAttribute", handle, 0, [&](Driver&, MemoryPool& pool) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    const auto set = [value](auto& target) {
      std::memcpy(&target, value, sizeof target);
      return CUDA_SUCCESS;
    };
    // Watermarks can only be set to 0, which means: to what is current.
    uint64_t number = 0;
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return set(pool.reuse_follow_event_dependencies);
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        return set(pool.reuse_allow_opportunistic);
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return set(pool.reuse_allow_internal_dependencies);
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return set(pool.release_threshold_bytes);
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        set(number);
        if (number != 0) return CUDA_ERROR_INVALID_VALUE;
        pool.reset_reserved_high();
        return CUDA_SUCCESS;
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        set(number);
        if (number != 0) return CUDA_ERROR_INVALID_VALUE;
        pool.reset_used_high();
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

// A question: not logged.
CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  return with_driver([&](Driver& state) {
    const MemoryPool* pool = pool_of(handle);
    if (!value || !state.memory.is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
    const auto answer = [value](auto number) {
      std::memcpy(value, &number, sizeof number);
      return CUDA_SUCCESS;
    };
    switch (attribute) {
      case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        return answer(pool->reuse_follow_event_dependencies);
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        return answer(pool->reuse_allow_opportunistic);
      case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        return answer(pool->reuse_allow_internal_dependencies);
      case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        return answer(pool->release_threshold_bytes);
      case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        return answer(pool->reserved_bytes());
      case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        return answer(pool->reserved_high_bytes());
      case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        return answer(pool->used_bytes());
      case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        return answer(pool->used_high_bytes());
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

// Every device may access every pool.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc*, size_t) {
  return with_driver([&](Driver& state) {
    return state.memory.is_pool(pool_of(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation*) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return cuMemPoolSetAccess(handle, nullptr, 0);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* handle, CUdevice ordinal) {
  return answer_pool("cuDeviceGetDefaultMemPool", handle, ordinal,
                     [&](Driver& state) { return state.memory.default_pool(ordinal); });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* handle, CUdevice ordinal) {
  return answer_pool("cuDeviceGetMemPool", handle, ordinal,
                     [&](Driver& state) { return state.memory.current_pool(ordinal); });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
  return set_current_pool("cuDeviceSetMemPool", ordinal, handle);
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* handle, CUmemLocation* location,
                                CUmemAllocationType) {
  const int ordinal = location && location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : -1;
  return answer_pool("cuMemGetDefaultMemPool", handle, ordinal,
                     [&](Driver& state) { return state.memory.default_pool(ordinal); });
}

CUresult cuMemGetMemPool(CUmemoryPool* handle, CUmemLocation* location, CUmemAllocationType) {
  const int ordinal = location && location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : -1;
  return answer_pool("cuMemGetMemPool", handle, ordinal,
                     [&](Driver& state) { return state.memory.current_pool(ordinal); });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType, CUmemoryPool handle) {
  const int ordinal = location && location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : -1;
  return set_current_pool("cuMemSetMemPool", ordinal, handle);
}
