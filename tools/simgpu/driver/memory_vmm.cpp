// Virtual memory management.
#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/sharing.h"

namespace simgpu {
namespace {

PhysicalMemory* physical_of(CUmemGenericAllocationHandle handle) {
  return reinterpret_cast<PhysicalMemory*>(handle);
}

bool is_on_host(const CUmemLocation& location) {
  return location.type != CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return memory_call(
      {.api = "cuMemAddressReserve", .size = bytes}, [&](Driver& state, MemoryCall& call) {
        if (!address || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        const Status status = state.virtual_memory.reserve(bytes, alignment, &call.address);
        if (status == Status::kSuccess) *address = call.address;
        return result_of(status);
      });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return memory_call({.api = "cuMemAddressFree", .address = address, .size = bytes},
                     [&](Driver& state, MemoryCall&) {
                       return result_of(state.virtual_memory.unreserve(address, bytes));
                     });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return memory_call({.api = "cuMemCreate", .size = bytes}, [&](Driver& state, MemoryCall& call) {
    if (!handle || !properties || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const bool on_host = is_on_host(properties->location);
    if (!on_host && !is_device(state, properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    if (!on_host) call.device = properties->location.id;
    if (!can_be_exported_as(properties->requestedHandleTypes)) return CUDA_ERROR_NOT_SUPPORTED;
    const PhysicalMemory requested{
        .size_bytes = bytes,
        .device = on_host ? 0 : call.device,
        .on_host = on_host,
        .is_exportable = properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE};
    PhysicalMemory* physical = nullptr;
    const Status status = state.virtual_memory.create(requested, &physical);
    if (status != Status::kSuccess) return result_of(status);
    call.handle = number_of(physical);
    *handle = call.handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return memory_call({.api = "cuMemRelease", .handle = handle}, [&](Driver& state, MemoryCall&) {
    PhysicalMemory* physical = physical_of(handle);
    if (!state.virtual_memory.is_handle(physical)) return CUDA_ERROR_INVALID_VALUE;
    return result_of(state.virtual_memory.release(physical));
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return memory_call({.api = "cuMemMap", .address = address, .size = bytes, .handle = handle},
                     [&](Driver& state, MemoryCall&) {
                       PhysicalMemory* physical = physical_of(handle);
                       if (flags != 0 || !state.virtual_memory.is_handle(physical))
                         return CUDA_ERROR_INVALID_VALUE;
                       return result_of(state.virtual_memory.map(address, bytes, offset, physical));
                     });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return memory_call(
      {.api = "cuMemUnmap", .address = address, .size = bytes}, [&](Driver& state, MemoryCall&) {
        const Allocation* mapping = state.memory.allocations().find(address);
        if (!mapping || mapping->kind != MemoryKind::kMapped) return CUDA_ERROR_INVALID_VALUE;
        synchronize_device(state, mapping->device);  // work that uses the mapping must be done
        return result_of(state.virtual_memory.unmap(address, bytes));
      });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* descriptions,
                        size_t count) {
  return memory_call(
      {.api = "cuMemSetAccess", .address = address, .size = bytes},
      [&](Driver& state, MemoryCall&) {
        if (!descriptions || count == 0 || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        const Allocation* mapping = state.memory.allocations().find_containing(address);
        if (!mapping || mapping->kind != MemoryKind::kMapped) return CUDA_ERROR_INVALID_VALUE;
        bool accessible = false;  // for whom makes no difference here
        for (size_t i = 0; i < count; ++i) {
          accessible |= descriptions[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        }
        return result_of(state.virtual_memory.set_access(address, bytes, accessible));
      });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Allocation* mapping = state.memory.allocations().find_containing(address);
    if (!mapping || mapping->kind != MemoryKind::kMapped) return CUDA_ERROR_INVALID_VALUE;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return memory_call({.api = "cuMemRetainAllocationHandle", .address = number_of(address)},
                     [&](Driver& state, MemoryCall& call) {
                       if (!handle) return CUDA_ERROR_INVALID_VALUE;
                       PhysicalMemory* physical = nullptr;
                       const Status status =
                           state.virtual_memory.retain(number_of(address), &physical);
                       if (status != Status::kSuccess) return result_of(status);
                       call.handle = number_of(physical);
                       *handle = call.handle;
                       return CUDA_SUCCESS;
                     });
}

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  if (!bytes || !properties) return CUDA_ERROR_INVALID_VALUE;
  *bytes = kMappingGranularity;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const PhysicalMemory* physical = physical_of(handle);
    if (!state.virtual_memory.is_handle(physical)) return CUDA_ERROR_INVALID_VALUE;
    *properties = {};
    properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties->location.type =
        physical->on_host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    properties->location.id = physical->device;
    properties->requestedHandleTypes = physical->is_exportable
                                           ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                           : CU_MEM_HANDLE_TYPE_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return memory_call(
      {.api = "cuMemExportToShareableHandle", .handle = handle}, [&](Driver& state, MemoryCall&) {
        const bool is_descriptor = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        if (!shareable || flags != 0 || !is_descriptor) return CUDA_ERROR_INVALID_VALUE;
        int descriptor = -1;
        const Status status = state.virtual_memory.export_handle(physical_of(handle), &descriptor);
        if (status == Status::kSuccess) *static_cast<int*>(shareable) = descriptor;
        return result_of(status);
      });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  return memory_call({.api = "cuMemImportFromShareableHandle"}, [&](Driver& state,
                                                                    MemoryCall& call) {
    const bool is_descriptor = type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (!handle || !is_descriptor) return CUDA_ERROR_INVALID_VALUE;
    PhysicalMemory* physical = nullptr;
    const Status status = state.virtual_memory.import_handle(descriptor_of(shareable), &physical);
    if (status != Status::kSuccess) return result_of(status);
    call.handle = number_of(physical);
    *handle = call.handle;
    return CUDA_SUCCESS;
  });
}
