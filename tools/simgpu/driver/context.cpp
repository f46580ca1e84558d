// Contexts: primary ones, a program's own, and which one a thread uses.
#include "tools/simgpu/driver/context.h"

#include <algorithm>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

// Takes what a context costs; the device must exist.
bool take_context(Driver& state, int ordinal) {
  return state.memory.take(ordinal, state.devices[ordinal].profile.context_bytes);
}

void give_context_back(Driver& state, int ordinal) {
  state.memory.give_back(ordinal, state.devices[ordinal].profile.context_bytes);
}

void release_memory(Driver& state, int ordinal) {
  state.memory.release_all(ordinal);
  state.shared_memory.close_all(ordinal);
}

void make_primary_inactive(Driver& state, int ordinal) {
  synchronize_device(state, ordinal);
  state.devices[ordinal].primary->references = 0;
  give_context_back(state, ordinal);
}

CUresult create_context(CUcontext* handle, unsigned flags, CUdevice ordinal) {
  return memory_call({.api = "cuCtxCreate"}, [&](Driver& state, MemoryCall& call) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    if (!take_context(state, ordinal)) return CUDA_ERROR_OUT_OF_MEMORY;
    Context* context = state.contexts.create(Context{state.next_id(), ordinal, false, flags, 1});
    this_thread().push(context);
    *handle = handle_of<CUcontext>(context);
    call.handle = number_of(context);
    return CUDA_SUCCESS;
  });
}

// The context that a call about `handle` (0: the current one) means.
CUresult find_context(Driver& state, CUcontext handle, Context** context) {
  if (!handle) return current_context(context);
  *context = state.find_context(handle);
  return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult with_context(CUcontext handle, auto body) {
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = find_context(state, handle, &context)) return result;
    return body(state, *context);
  });
}

}  // namespace

bool retain_primary(Driver& state, int ordinal) {
  Context* primary = state.devices[ordinal].primary;
  if (primary->references == 0 && !take_context(state, ordinal)) return false;
  ++primary->references;
  return true;
}

void release_primary(Driver& state, int ordinal) {
  if (state.devices[ordinal].primary->references > 1) {
    --state.devices[ordinal].primary->references;
    return;
  }
  release_memory(state, ordinal);
  make_primary_inactive(state, ordinal);
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
  return memory_call({.api = "cuDevicePrimaryCtxRetain"}, [&](Driver& state, MemoryCall& call) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    if (!retain_primary(state, ordinal)) return CUDA_ERROR_OUT_OF_MEMORY;
    Context* primary = state.devices[ordinal].primary;
    *handle = handle_of<CUcontext>(primary);
    call.handle = number_of(primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return memory_call({.api = "cuDevicePrimaryCtxRelease"}, [&](Driver& state, MemoryCall& call) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    Context* primary = state.devices[ordinal].primary;
    if (primary->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
    call.handle = number_of(primary);
    release_primary(state, ordinal);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return memory_call({.api = "cuDevicePrimaryCtxReset"}, [&](Driver& state, MemoryCall& call) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    call.handle = number_of(state.devices[ordinal].primary);
    release_memory(state, ordinal);
    if (state.devices[ordinal].primary->references > 0) make_primary_inactive(state, ordinal);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  return cuDevicePrimaryCtxRelease_v2(ordinal);
}
CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) { return cuDevicePrimaryCtxReset_v2(ordinal); }

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = state.devices[ordinal].primary->flags;
    *active = state.devices[ordinal].primary->references > 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    state.devices[ordinal].primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult cuCtxCreate(CUcontext* handle, unsigned flags, CUdevice ordinal) {
  return create_context(handle, flags, ordinal);
}

CUresult cuCtxCreate_v2(CUcontext* handle, unsigned flags, CUdevice ordinal) {
  return create_context(handle, flags, ordinal);
}

CUresult cuCtxCreate_v3(CUcontext* handle, CUexecAffinityParam*, int, unsigned flags,
                        CUdevice ordinal) {
  return create_context(handle, flags, ordinal);
}

CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams*, unsigned flags, CUdevice ordinal) {
  return create_context(handle, flags, ordinal);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return memory_call(
      {.api = "cuCtxDestroy", .handle = number_of(handle)}, [&](Driver& state, MemoryCall&) {
        Context* context = state.find_context(handle);
        if (!context || context->primary || context->green_sms != 0)
          return CUDA_ERROR_INVALID_CONTEXT;
        synchronize_device(state, context->device);
        give_context_back(state, context->device);
        this_thread().forget(context);
        state.streams.remove_if(
            [&](const Stream& stream) { return stream.context == context && !stream.capture; });
        context->alive = false;
        return CUDA_SUCCESS;
      });
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return with_driver([&](Driver& state) {
    Context* context = state.find_context(handle);
    return context && this_thread().push(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  Context* popped = this_thread().pop();
  if (!popped) return CUDA_ERROR_INVALID_CONTEXT;
  if (handle) *handle = handle_of<CUcontext>(popped);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }
CUresult cuCtxPopCurrent(CUcontext* handle) { return cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  return with_driver([&](Driver& state) {
    Context* context = state.find_context(handle);
    if (handle && !context) return CUDA_ERROR_INVALID_CONTEXT;
    this_thread().set_current(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  *handle = handle_of<CUcontext>(this_thread().current());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  return with_context(handle, [&](Driver&, const Context& context) {
    *device = context.device;
    return CUDA_SUCCESS;
  });
}

// The most frequent call of all: no lock. The object of a context that another thread destroyed is
// still there.
CUresult cuCtxGetDevice(CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = this_thread().current();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  return with_context(handle, [&](Driver&, const Context& context) {
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  constexpr unsigned kContextApiVersion = 3020;  // of every context since CUDA 3.2
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  return with_context(handle, [&](Driver&, const Context&) {
    *version = kContextApiVersion;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return with_context(nullptr, [&](Driver&, const Context& context) {
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return with_context(nullptr, [&](Driver&, Context& context) {
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_context(handle, [&](Driver& state, const Context& context) {
    const Status status = state.captures.check_unsafe_call(this_thread().capture_mode);
    if (status == Status::kSuccess) synchronize_device(state, context.device);
    return result_of(status);
  });
}

CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }
