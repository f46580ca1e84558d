// Linear and managed memory, and what a pointer is.
#include "tools/simgpu/core/units.h"
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr uint64_t kPitchAlignment = 512;

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    state.virtual_memory.reclaim();
    const CapacityMeter& meter = state.memory.meter(context->device);
    if (free) *free = meter.free_bytes();
    if (total) *total = meter.capacity_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return memory_call({.api = "cuMemAlloc", .size = bytes}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    call.device = context->device;
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    const Status status = state.memory.allocate_linear(context->device, bytes, &call.address);
    if (status == Status::kSuccess) *address = call.address;
    return result_of(status);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width_bytes, size_t height,
                            unsigned element_bytes) {
  return memory_call({.api = "cuMemAllocPitch"}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    call.device = context->device;
    const bool element_ok = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    const bool fits = width_bytes <= 4 * kGiB && height <= kTiB / kPitchAlignment;
    if (!address || !pitch || width_bytes == 0 || height == 0 || !element_ok) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (!fits) return CUDA_ERROR_OUT_OF_MEMORY;
    const uint64_t row_bytes = round_up(width_bytes, kPitchAlignment);
    call.size = row_bytes * height;
    const Status status = state.memory.allocate_linear(context->device, call.size, &call.address);
    if (status != Status::kSuccess) return result_of(status);
    *address = call.address;
    *pitch = row_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return memory_call(
      {.api = "cuMemAllocManaged", .size = bytes}, [&](Driver& state, MemoryCall& call) {
        Context* context = nullptr;
        if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
        call.device = context->device;
        const bool attach_ok = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
        if (!address || bytes == 0 || !attach_ok) return CUDA_ERROR_INVALID_VALUE;
        const Status status =
            state.memory.allocate_managed(context->device, bytes, flags, &call.address);
        if (status == Status::kSuccess) *address = call.address;
        return result_of(status);
      });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return memory_call({.api = "cuMemFree", .address = address}, [&](Driver& state, MemoryCall&) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    if (address == 0) return CUDA_SUCCESS;
    const Allocation* allocation = state.memory.allocations().find(address);
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    synchronize_device(state, allocation->device);  // a free waits for the device
    const bool imported = allocation->kind == MemoryKind::kImported;
    return result_of(imported ? state.shared_memory.free_pooled(address)
                              : state.memory.release(address));
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* bytes, CUdeviceptr address) {
  return with_driver([&](Driver& state) {
    const Allocation* allocation = state.memory.allocations().find_containing(address);
    if (!allocation || is_host_kind(allocation->kind)) return CUDA_ERROR_NOT_FOUND;
    if (begin) *begin = allocation->address;
    if (bytes) *bytes = allocation->requested_bytes;
    return CUDA_SUCCESS;
  });
}

// Hints about where managed memory should be: the model has only one place.
CUresult cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice) { return CUDA_SUCCESS; }
CUresult cuMemAdvise_v2(CUdeviceptr, size_t, CUmem_advise, CUmemLocation) { return CUDA_SUCCESS; }

CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream stream) {
  return enqueue(stream, {NodeType::kEmpty}, [] {});
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream stream) {
  return enqueue(stream, {NodeType::kEmpty}, [] {});
}
