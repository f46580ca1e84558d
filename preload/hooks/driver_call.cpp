#include "preload/hooks/driver_call.h"

#include <atomic>

namespace vramscope {
namespace {

const ShimServices* services = nullptr;

using GetDevice = CUresult (*)(CUdevice*);

// Looked up when the core is attached, and again only if the driver was not there yet.
GetDevice find_get_device() {
  static std::atomic<GetDevice> found = nullptr;
  GetDevice function = found.load(std::memory_order_relaxed);
  if (function == nullptr) {
    void* symbol = shim_services().loaded_symbol("libcuda.so.1", "cuCtxGetDevice");
    function = reinterpret_cast<GetDevice>(symbol);
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

}  // namespace

void set_shim_services(const ShimServices* shim) {
  services = shim;
  find_get_device();
}

const ShimServices& shim_services() { return *services; }

int8_t current_device() {
  const GetDevice get_device = find_get_device();
  CUdevice device = 0;
  if (get_device == nullptr || get_device(&device) != CUDA_SUCCESS) return kNoDevice;
  return static_cast<int8_t>(device);
}

int8_t device_of(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? static_cast<int8_t>(location.id)
                                                      : kNoDevice;
}

}  // namespace vramscope
