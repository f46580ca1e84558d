#include "tools/simgpu/libraries/nvml_boards.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>

#include "tools/simgpu/core/configuration.h"

namespace simgpu::libraries::nvml {
namespace {

constexpr int kFirstPciBus = 1;
constexpr int kSignatureVersion = 12090;

const Configuration& configuration() {
  static const auto* instance = new Configuration(read_configuration());
  return *instance;
}

/// The driver's functions, where the process has loaded it already.
struct Driver {
  decltype(&::cuGetProcAddress_v2) get_proc_address = nullptr;
  decltype(&::cuDeviceGetByPCIBusId) get_by_pci_bus_id = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) get_state = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) release = nullptr;
  decltype(&::cuCtxPushCurrent) push = nullptr;
  decltype(&::cuCtxPopCurrent) pop = nullptr;
  decltype(&::cuMemGetInfo) memory = nullptr;

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return;
    get_proc_address =
        reinterpret_cast<decltype(get_proc_address)>(dlsym(library, "cuGetProcAddress_v2"));
    look_up("cuDeviceGetByPCIBusId", get_by_pci_bus_id);
    look_up("cuDevicePrimaryCtxGetState", get_state);
    look_up("cuDevicePrimaryCtxRetain", retain);
    look_up("cuDevicePrimaryCtxRelease", release);
    look_up("cuCtxPushCurrent", push);
    look_up("cuCtxPopCurrent", pop);
    look_up("cuMemGetInfo", memory);
  }

  bool complete() const {
    return get_by_pci_bus_id && get_state && retain && release && push && pop && memory;
  }

 private:
  template <typename Function>
  void look_up(const char* name, Function& function) const {
    void* found = nullptr;
    if (get_proc_address == nullptr) return;
    if (get_proc_address(name, &found, kSignatureVersion, 0, nullptr) == CUDA_SUCCESS) {
      function = reinterpret_cast<Function>(found);
    }
  }
};

uint64_t used_in_context(const Driver& driver, CUdevice device) {
  CUcontext context = nullptr;
  if (driver.retain(&context, device) != CUDA_SUCCESS) return 0;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (driver.push(context) == CUDA_SUCCESS) {
    driver.memory(&free_bytes, &total_bytes);
    driver.pop(&context);
  }
  driver.release(device);
  return total_bytes - free_bytes;
}

}  // namespace

int board_count() { return configuration().gpus.count; }

const GpuProfile& board_profile() { return configuration().gpus.profile; }

std::string board_uuid(int board) { return "GPU-" + uuid_text(board); }

int board_pci_bus(int board) { return kFirstPciBus + board; }

std::string board_pci_id(int board) {
  char text[24];
  std::snprintf(text, sizeof text, "00000000:%02X:00.0", board_pci_bus(board));
  return text;
}

uint64_t board_used_bytes(int board) {
  const Driver driver;
  if (!driver.complete()) return 0;
  // The look-up fails before cuInit, and where the process may not see the board.
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  if (driver.get_by_pci_bus_id(&device, board_pci_id(board).c_str()) != CUDA_SUCCESS) return 0;
  if (driver.get_state(device, &flags, &active) != CUDA_SUCCESS || active == 0) return 0;
  return used_in_context(driver, device);
}

}  // namespace simgpu::libraries::nvml
