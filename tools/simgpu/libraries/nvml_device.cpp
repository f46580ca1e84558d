// NVML: the library, and which devices there are.

#include <cstdio>
#include <cstring>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/nvml.h"

using namespace simgpu::libraries::nvml;

namespace {

constexpr char kDriverVersion[] = "580.00.00";
constexpr char kNvmlVersion[] = "13.580.00.00";
constexpr int kCudaDriverVersion = 13020;

int write_text(char* output, unsigned capacity, const std::string& text) {
  if (output == nullptr) return kInvalidArgument;
  if (text.size() >= capacity) return kInsufficientSize;
  std::memcpy(output, text.c_str(), text.size() + 1);
  return kSuccess;
}

/// nvmlPciInfo_t
struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

}  // namespace

SIMGPU_EXPORT int nvmlInit() { return kSuccess; }

SIMGPU_EXPORT int nvmlInit_v2() { return kSuccess; }

SIMGPU_EXPORT int nvmlInitWithFlags(unsigned) { return kSuccess; }

SIMGPU_EXPORT int nvmlShutdown() { return kSuccess; }

SIMGPU_EXPORT const char* nvmlErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "Success";
    case kInvalidArgument:
      return "Invalid Argument";
    case kNotSupported:
      return "Not Supported";
    case kNotFound:
      return "Not Found";
    case kInsufficientSize:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

SIMGPU_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned capacity) {
  return write_text(text, capacity, kDriverVersion);
}

SIMGPU_EXPORT int nvmlSystemGetNVMLVersion(char* text, unsigned capacity) {
  return write_text(text, capacity, kNvmlVersion);
}

SIMGPU_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) {
  *version = kCudaDriverVersion;
  return kSuccess;
}

SIMGPU_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

SIMGPU_EXPORT int nvmlDeviceGetCount(unsigned* count) {
  *count = static_cast<unsigned>(board_count());
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return nvmlDeviceGetCount(count); }

SIMGPU_EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* device) {
  if (index >= static_cast<unsigned>(board_count())) return kInvalidArgument;
  *device = handle_of(static_cast<int>(index));
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}

SIMGPU_EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle* device) {
  for (int board = 0; board < board_count(); ++board) {
    if (board_uuid(board) != uuid) continue;
    *device = handle_of(board);
    return kSuccess;
  }
  return kNotFound;
}

SIMGPU_EXPORT int nvmlDeviceGetHandleByPciBusId(const char* text, DeviceHandle* device) {
  unsigned domain = 0;
  unsigned bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return kInvalidArgument;
  for (int board = 0; board < board_count(); ++board) {
    if (domain != 0 || board_pci_bus(board) != static_cast<int>(bus)) continue;
    *device = handle_of(board);
    return kSuccess;
  }
  return kNotFound;
}

SIMGPU_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* text, DeviceHandle* device) {
  return nvmlDeviceGetHandleByPciBusId(text, device);
}

SIMGPU_EXPORT int nvmlDeviceGetIndex(DeviceHandle device, unsigned* index) {
  if (board_of(device) < 0) return kInvalidArgument;
  *index = static_cast<unsigned>(board_of(device));
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetMinorNumber(DeviceHandle device, unsigned* minor) {
  return nvmlDeviceGetIndex(device, minor);
}

SIMGPU_EXPORT int nvmlDeviceGetName(DeviceHandle device, char* text, unsigned capacity) {
  if (board_of(device) < 0) return kInvalidArgument;
  return write_text(text, capacity, std::string(board_profile().marketing_name));
}

SIMGPU_EXPORT int nvmlDeviceGetUUID(DeviceHandle device, char* text, unsigned capacity) {
  if (board_of(device) < 0) return kInvalidArgument;
  return write_text(text, capacity, board_uuid(board_of(device)));
}

SIMGPU_EXPORT int nvmlDeviceGetPciInfo_v3(DeviceHandle device, PciInfo* info) {
  const int board = board_of(device);
  if (board < 0) return kInvalidArgument;
  *info = {};
  const std::string bus_id = board_pci_id(board);
  std::snprintf(info->legacy_bus_id, sizeof info->legacy_bus_id, "%s", bus_id.c_str() + 4);
  std::snprintf(info->bus_id, sizeof info->bus_id, "%s", bus_id.c_str());
  info->bus = static_cast<unsigned>(board_pci_bus(board));
  return kSuccess;
}

SIMGPU_EXPORT int nvmlDeviceGetCudaComputeCapability(DeviceHandle device, int* major, int* minor) {
  if (board_of(device) < 0) return kInvalidArgument;
  *major = board_profile().compute_major;
  *minor = board_profile().compute_minor;
  return kSuccess;
}
