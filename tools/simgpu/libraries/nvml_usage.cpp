// NVML: memory and processes; load, links and sensors, of which a simulated board has none.

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/nvml.h"

using namespace simgpu::libraries::nvml;

namespace {

/// nvmlMemory_t
struct Memory {
  uint64_t total_bytes;
  uint64_t free_bytes;
  uint64_t used_bytes;
};

/// nvmlMemory_v2_t
struct MemoryV2 {
  unsigned version;
  uint64_t total_bytes;
  uint64_t reserved_bytes;
  uint64_t free_bytes;
  uint64_t used_bytes;
};
static_assert(sizeof(MemoryV2) == 40);

/// nvmlProcessInfo_v1_t
struct ProcessV1 {
  unsigned pid;
  uint64_t used_bytes;
};
static_assert(sizeof(ProcessV1) == 16);

/// nvmlProcessInfo_v2_t, also used by the functions of version 3
struct ProcessV2 {
  unsigned pid;
  uint64_t used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(ProcessV2) == 24);

constexpr unsigned kNoInstance = 0xFFFFFFFF;

/// nvmlUtilization_t
struct Utilization {
  unsigned gpu_percent;
  unsigned memory_percent;
};

/// nvmlGpuFabricInfoV_t, the part that all versions share
struct FabricInfo {
  unsigned version;
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique;
  unsigned char state;  // 0: not supported
};

/// The only process that a board knows is this one, once it has a context.
template <typename Process>
int list_processes(DeviceHandle device, unsigned* count, Process* processes, Process own) {
  const int board = board_of(device);
  if (board < 0) return kInvalidArgument;
  const unsigned capacity = *count;
  own.used_bytes = board_used_bytes(board);
  *count = own.used_bytes > 0 ? 1 : 0;
  if (*count > capacity) return kInsufficientSize;
  if (*count > 0) processes[0] = own;
  return kSuccess;
}

unsigned own_pid() { return static_cast<unsigned>(getpid()); }

}  // namespace

SIMGPU_EXPORT int nvmlDeviceGetMemoryInfo(DeviceHandle device, Memory* memory) {
  const int board = board_of(device);
  if (board < 0) return kInvalidArgument;
  memory->total_bytes = board_profile().capacity_bytes;
  memory->used_bytes = board_used_bytes(board);
  memory->free_bytes = memory->total_bytes - memory->used_bytes;
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetMemoryInfo_v2(DeviceHandle device, MemoryV2* memory) {
  Memory first{};
  if (int error = nvmlDeviceGetMemoryInfo(device, &first); error != kSuccess) return error;
  memory->total_bytes = first.total_bytes;
  memory->reserved_bytes = 0;  // the profiles give the usable capacity
  memory->free_bytes = first.free_bytes;
  memory->used_bytes = first.used_bytes;
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetComputeRunningProcesses(DeviceHandle device, unsigned* count,
                                                       ProcessV1* processes) {
  return list_processes(device, count, processes, ProcessV1{own_pid(), 0});
}

SIMGPU_EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(DeviceHandle device, unsigned* count,
                                                          ProcessV2* processes) {
  return list_processes(device, count, processes,
                        ProcessV2{own_pid(), 0, kNoInstance, kNoInstance});
}

SIMGPU_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle device, unsigned* count,
                                                          ProcessV2* processes) {
  return nvmlDeviceGetComputeRunningProcesses_v2(device, count, processes);
}

SIMGPU_EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(DeviceHandle, unsigned* count,
                                                           ProcessV2*) {
  *count = 0;
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetUtilizationRates(DeviceHandle device, Utilization* utilization) {
  if (board_of(device) < 0) return kInvalidArgument;
  *utilization = {};
  return kSuccess;
}

/// Answered, because PyTorch warns on every start where it is not.
SIMGPU_EXPORT int nvmlDeviceGetGpuFabricInfoV(DeviceHandle device, FabricInfo* info) {
  if (board_of(device) < 0) return kInvalidArgument;
  *info = FabricInfo{info->version, {}, kSuccess, 0, 0};
  return kSuccess;
}

/// nvmlGpuP2PStatus_t: 0 is "works", as the driver says for all pairs.
SIMGPU_EXPORT int nvmlDeviceGetP2PStatus(DeviceHandle first, DeviceHandle second, int,
                                         int* status) {
  if (board_of(first) < 0 || board_of(second) < 0) return kInvalidArgument;
  *status = 0;
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(DeviceHandle, unsigned, int*) {
  return kNotSupported;
}

SIMGPU_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(DeviceHandle, unsigned, void*) {
  return kNotSupported;
}

SIMGPU_EXPORT int nvmlDeviceGetNvLinkState(DeviceHandle, unsigned, int*) { return kNotSupported; }

SIMGPU_EXPORT int nvmlDeviceGetTemperature(DeviceHandle, int, unsigned*) { return kNotSupported; }

SIMGPU_EXPORT int nvmlDeviceGetPowerUsage(DeviceHandle, unsigned*) { return kNotSupported; }

SIMGPU_EXPORT int nvmlDeviceGetClockInfo(DeviceHandle, int, unsigned*) { return kNotSupported; }

SIMGPU_EXPORT int nvmlDeviceGetMigMode(DeviceHandle, unsigned*, unsigned*) { return kNotSupported; }
