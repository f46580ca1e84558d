// The memory that a device's graphs hold.
#include <cstring>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

uint64_t attribute_of(const MemoryPool& pool, CUgraphMem_attribute attribute) {
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return pool.used_bytes();
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return pool.used_high_bytes();
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return pool.reserved_bytes();
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return pool.reserved_high_bytes();
  }
  return 0;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    const uint64_t bytes = attribute_of(*state.memory.graph_pool(ordinal), attribute);
    std::memcpy(value, &bytes, sizeof bytes);
    return CUDA_SUCCESS;
  });
}

// Only the high watermarks can be set, to what is current.
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void*) {
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    MemoryPool& pool = *state.memory.graph_pool(ordinal);
    if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
      pool.reset_used_high();
    } else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) {
      pool.reset_reserved_high();
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  return memory_call({.api = "cuDeviceGraphMemTrim"}, [&](Driver& state, MemoryCall& call) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    call.device = ordinal;
    state.memory.graph_pool(ordinal)->trim(0);
    return CUDA_SUCCESS;
  });
}
