// Devices: what they are called, where they sit, how they reach each other.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/device_attributes.h"

namespace simgpu {
namespace {

constexpr int kFirstPciBus = 1;  // board 0 sits at 0000:01:00.0

CUresult with_device(CUdevice ordinal, auto body) {
  return with_driver([&](Driver& state) {
    if (!is_device(state, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    return body(state.devices[ordinal]);
  });
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](Device&) {
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(driver().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    std::snprintf(name, length, "%.*s", static_cast<int>(device.profile.marketing_name.size()),
                  device.profile.marketing_name.data());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    uuid_bytes(device.board, uuid->bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) {
  return cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    *bytes = device.profile.capacity_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    *major = device.profile.compute_major;
    *minor = device.profile.compute_minor;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID
                 ? kFirstPciBus + device.board
                 : device_attribute(device.profile, attribute);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice ordinal) {
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    const auto attribute = [&](CUdevice_attribute name) {
      return device_attribute(device.profile, name);
    };
    *properties = {};
    properties->maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    properties->maxThreadsDim[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    properties->maxThreadsDim[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    properties->maxThreadsDim[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    properties->maxGridSize[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    properties->maxGridSize[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    properties->maxGridSize[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    properties->sharedMemPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    properties->totalConstantMemory = attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    properties->SIMDWidth = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    properties->memPitch = attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    properties->regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    properties->clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    properties->textureAlign = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  if (!text || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](const Device& device) {
    std::snprintf(text, length, "0000:%02X:00.0", kFirstPciBus + device.board);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* ordinal, const char* text) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (!ordinal || !text || std::sscanf(text, "%x:%x", &domain, &bus) != 2) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return with_driver([&](Driver& state) {
    for (size_t i = 0; i < state.devices.size(); ++i) {
      if (kFirstPciBus + state.devices[i].board != static_cast<int>(bus)) continue;
      *ordinal = static_cast<int>(i);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice ordinal) {
  if (!supported) return CUDA_ERROR_INVALID_VALUE;
  return with_device(ordinal, [&](Device&) {
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

// All boards of a machine reach each other.
CUresult cuDeviceCanAccessPeer(int* possible, CUdevice device, CUdevice peer) {
  if (!possible) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    if (!is_device(state, device) || !is_device(state, peer)) return CUDA_ERROR_INVALID_DEVICE;
    *possible = device != peer;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
  if (!value || source == destination) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    if (!is_device(state, source) || !is_device(state, destination))
      return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attribute == CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED;
    return CUDA_SUCCESS;
  });
}
