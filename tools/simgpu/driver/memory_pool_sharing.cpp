// Sharing pools, and memory of them, with other processes.
#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/sharing.h"

namespace simgpu {
namespace {

MemoryPool* pool_of(CUmemoryPool handle) { return object_of<MemoryPool>(handle); }

bool is_descriptor(CUmemAllocationHandleType type) {
  return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuMemPoolExportToShareableHandle(void* shareable, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return memory_call({.api = "cuMemPoolExportToShareableHandle", .handle = number_of(handle)},
                     [&](Driver& state, MemoryCall&) {
                       MemoryPool* pool = pool_of(handle);
                       const bool valid = shareable && flags == 0 && is_descriptor(type);
                       if (!valid || !state.memory.is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
                       int descriptor = -1;
                       const Status status = state.shared_memory.export_pool(*pool, &descriptor);
                       if (status == Status::kSuccess) *static_cast<int*>(shareable) = descriptor;
                       return result_of(status);
                     });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* handle, void* shareable,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return memory_call(
      {.api = "cuMemPoolImportFromShareableHandle"}, [&](Driver& state, MemoryCall& call) {
        if (!handle || flags != 0 || !is_descriptor(type)) return CUDA_ERROR_INVALID_VALUE;
        MemoryPool* pool = nullptr;
        const Status status = state.shared_memory.import_pool(descriptor_of(shareable), &pool);
        if (status != Status::kSuccess) return result_of(status);
        *handle = handle_of<CUmemoryPool>(pool);
        call.handle = number_of(pool);
        return CUDA_SUCCESS;
      });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr address) {
  return memory_call({.api = "cuMemPoolExportPointer", .address = address},
                     [&](Driver& state, MemoryCall&) {
                       if (!data) return CUDA_ERROR_INVALID_VALUE;
                       ShareHandle made{};
                       const Status status = state.shared_memory.export_pooled(address, &made);
                       if (status == Status::kSuccess) write_handle(made, data);
                       return result_of(status);
                     });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* address, CUmemoryPool handle,
                                CUmemPoolPtrExportData* data) {
  return memory_call({.api = "cuMemPoolImportPointer", .handle = number_of(handle)},
                     [&](Driver& state, MemoryCall& call) {
                       MemoryPool* pool = pool_of(handle);
                       if (!address || !data || !state.memory.is_pool(pool))
                         return CUDA_ERROR_INVALID_VALUE;
                       const Status status = state.shared_memory.import_pooled(
                           *pool, share_handle(*data), &call.address);
                       if (status == Status::kSuccess) *address = call.address;
                       return result_of(status);
                     });
}
