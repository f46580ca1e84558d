// Pinned and registered host memory.
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

CUresult allocate_pinned(const char* api, void** address, size_t bytes, unsigned flags) {
  return memory_call({.api = api, .size = bytes}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    const Status status =
        state.memory.allocate_pinned(context->device, bytes, flags, &call.address);
    if (status == Status::kSuccess) *address = reinterpret_cast<void*>(call.address);
    return result_of(status);
  });
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  return allocate_pinned("cuMemHostAlloc", address, bytes, flags);
}

CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  return allocate_pinned("cuMemAllocHost", address, bytes, 0);
}

CUresult cuMemFreeHost(void* address) {
  return memory_call(
      {.api = "cuMemFreeHost", .address = number_of(address)}, [&](Driver& state, MemoryCall&) {
        const Status unsafe = state.captures.check_unsafe_call(this_thread().capture_mode);
        if (unsafe != Status::kSuccess) return result_of(unsafe);
        return result_of(state.memory.release_pinned(number_of(address)));
      });
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  return memory_call({.api = "cuMemHostRegister", .address = number_of(address), .size = bytes},
                     [&](Driver& state, MemoryCall&) {
                       Context* context = nullptr;
                       if (const CUresult result = context_for_unsafe_call(state, &context))
                         return result;
                       return result_of(state.memory.register_host(
                           context->device, number_of(address), bytes, flags));
                     });
}

CUresult cuMemHostRegister(void* address, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(address, bytes, flags);
}

CUresult cuMemHostUnregister(void* address) {
  return memory_call({.api = "cuMemHostUnregister", .address = number_of(address)},
                     [&](Driver& state, MemoryCall&) {
                       return result_of(state.memory.unregister_host(number_of(address)));
                     });
}

// Host memory is at the same address on every device.
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_address, void* address, unsigned flags) {
  if (!device_address || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Allocation* allocation = state.memory.allocations().find_containing(number_of(address));
    if (!allocation || !is_host_kind(allocation->kind)) return CUDA_ERROR_INVALID_VALUE;
    *device_address = number_of(address);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* address) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Allocation* allocation = state.memory.allocations().find_containing(number_of(address));
    if (!allocation || !is_host_kind(allocation->kind)) return CUDA_ERROR_INVALID_VALUE;
    *flags = allocation->flags;
    return CUDA_SUCCESS;
  });
}
