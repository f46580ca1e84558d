// Green contexts: a part of a device's multiprocessors. Kernels do nothing, so that only the counts
// matter. A green context and the CUcontext that it becomes are one object.
#include <algorithm>

#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/context.h"

namespace simgpu {
namespace {

struct Partition {
  unsigned least;
  unsigned multiple;
};

// As the CUDA driver API's manual says of green contexts.
Partition partition_of(const GpuProfile& profile) {
  if (profile.compute_major >= 9) return {8, 8};
  if (profile.compute_major == 8) return {4, 2};
  return {2, 2};
}

CUdevResource sm_resource(unsigned sms, Partition partition) {
  CUdevResource resource = {};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = sms;
  resource.sm.minSmPartitionSize = partition.least;
  resource.sm.smCoscheduledAlignment = partition.multiple;
  return resource;
}

Context* find_green(const Driver& state, const void* handle) {
  Context* context = state.contexts.find(handle);
  return context && context->alive && context->green_sms != 0 ? context : nullptr;
}

// Of the whole device, unless `context` is a green one.
CUresult describe(const Driver& state, const Context& context, CUdevResource* resource,
                  CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  const GpuProfile& profile = state.devices[context.device].profile;
  const unsigned all = static_cast<unsigned>(profile.sm_count);
  *resource = sm_resource(context.green_sms != 0 ? context.green_sms : all, partition_of(profile));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource* resource, CUdevResourceType type) {
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    return describe(state, *state.devices[ordinal].primary, resource, type);
  });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* resource, CUdevResourceType type) {
  return with_driver([&](Driver& state) {
    const Context* context = state.find_context(handle);
    return context ? describe(state, *context, resource, type) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                  CUdevResourceType type) {
  return with_driver([&](Driver& state) {
    const Context* context = find_green(state, handle);
    return context ? describe(state, *context, resource, type) : CUDA_ERROR_INVALID_VALUE;
  });
}

// Without flags: which smaller parts they allow is not documented.
CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups,
                                     const CUdevResource* input, CUdevResource* remaining,
                                     unsigned flags, unsigned least_sms) {
  if (flags != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!groups || !input) return CUDA_ERROR_INVALID_VALUE;
  if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  const unsigned all = input->sm.smCount;
  const Partition partition = {input->sm.minSmPartitionSize, input->sm.smCoscheduledAlignment};
  if (least_sms > all || partition.multiple == 0) return CUDA_ERROR_INVALID_VALUE;
  const unsigned wanted = std::max(least_sms, partition.least);
  const unsigned each = (wanted + partition.multiple - 1) / partition.multiple * partition.multiple;
  const unsigned possible = all / each;
  if (possible == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  *groups = result ? std::min(*groups, possible) : possible;
  if (result) std::fill_n(result, *groups, sm_resource(each, partition));
  if (remaining) {
    const unsigned left = all - *groups * each;
    *remaining = left != 0 ? sm_resource(left, partition) : CUdevResource{};
  }
  return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources,
                                   unsigned count) {
  if (!description || !resources || count == 0) return CUDA_ERROR_INVALID_VALUE;
  unsigned sms = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    sms += resources[i].sm.smCount;
  }
  if (sms == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  return with_driver([&](Driver& state) {
    *description =
        handle_of<CUdevResourceDesc>(state.resource_descriptions.create(ResourceDescription{sms}));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice ordinal,
                          unsigned flags) {
  return memory_call({.api = "cuGreenCtxCreate"}, [&](Driver& state, MemoryCall& call) {
    if (is_device(state, ordinal)) call.device = ordinal;
    const ResourceDescription* resources = state.resource_descriptions.find(description);
    if (!handle || !resources || flags != CU_GREEN_CTX_DEFAULT_STREAM) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    if (resources->sms > static_cast<unsigned>(state.devices[ordinal].profile.sm_count)) {
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    if (!retain_primary(state, ordinal)) return CUDA_ERROR_OUT_OF_MEMORY;
    Context* context =
        state.contexts.create(Context{state.next_id(), ordinal, false, 0, 1, true, resources->sms});
    *handle = handle_of<CUgreenCtx>(context);
    call.handle = number_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return memory_call(
      {.api = "cuGreenCtxDestroy", .handle = number_of(handle)}, [&](Driver& state, MemoryCall&) {
        Context* context = find_green(state, handle);
        if (!context) return CUDA_ERROR_INVALID_VALUE;
        synchronize_device(state, context->device);
        this_thread().forget(context);
        state.streams.remove_if(
            [&](const Stream& stream) { return stream.context == context && !stream.capture; });
        context->alive = false;
        release_primary(state, context->device);
        return CUDA_SUCCESS;
      });
}

CUresult cuCtxFromGreenCtx(CUcontext* handle, CUgreenCtx green) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Context* context = find_green(state, green);
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of<CUcontext>(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* handle, CUgreenCtx green, unsigned flags, int priority) {
  if (!handle || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Context* context = find_green(state, green);
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *handle = handle_of<CUstream>(create_stream(state, context, flags, priority));
    return CUDA_SUCCESS;
  });
}
