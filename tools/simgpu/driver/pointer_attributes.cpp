// What the driver knows about an address.
#include <cstring>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

template <typename Value>
CUresult answer(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool is_exportable(const Allocation& allocation) {
  if (allocation.physical) return allocation.physical->is_exportable;
  return allocation.pool && allocation.pool->is_exportable;
}

CUresult attribute_of(Driver& state, const Allocation& allocation, CUpointer_attribute attribute,
                      CUdeviceptr address, void* data) {
  const bool on_host = is_host_kind(allocation.kind);
  const bool host_can_access = on_host || allocation.kind == MemoryKind::kManaged;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer<const void*>(data, state.devices[allocation.device].primary);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer<unsigned>(data, on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return answer<CUdeviceptr>(data, host_can_access ? address : 0);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return answer<int>(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return answer<unsigned long long>(data, allocation.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer<int>(data, allocation.kind == MemoryKind::kManaged);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer<int>(data, allocation.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return answer<int>(data, allocation.kind == MemoryKind::kLinear);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer<CUdeviceptr>(data, allocation.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer<size_t>(data, allocation.requested_bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer<int>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer<unsigned long long>(data, is_exportable(allocation)
                                                  ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                  : CU_MEM_HANDLE_TYPE_NONE);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer<const void*>(data, allocation.pool);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// What cuPointerGetAttributes answers for an address that the driver does not know.
void answer_unknown(CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      answer<int>(data, CU_DEVICE_INVALID);
      return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      answer<int>(data, 0);
      return;
    default:
      answer<uint64_t>(data, 0);
      return;
  }
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Allocation* allocation = state.memory.allocations().find_containing(address);
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    return attribute_of(state, *allocation, attribute, address, data);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  if (!attributes || !data) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Allocation* allocation = state.memory.allocations().find_containing(address);
    for (unsigned i = 0; i < count; ++i) {
      const bool known = allocation && attribute_of(state, *allocation, attributes[i], address,
                                                    data[i]) == CUDA_SUCCESS;
      if (!known) answer_unknown(attributes[i], data[i]);
    }
    return CUDA_SUCCESS;
  });
}

// SYNC_MEMOPS, the only attribute that can be set: copies are complete anyway when they return.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const bool known = state.memory.allocations().find_containing(address);
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
