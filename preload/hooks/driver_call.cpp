#include "preload/hooks/driver_call.h"

#include <atomic>

namespace vramscope {
namespace {

std::atomic<const ShimServices*> services = nullptr;

using GetDevice = CUresult (*)(CUdevice*);
using GetStreamDevice = CUresult (*)(CUstream, CUdevice*);
using GetMemory = CUresult (*)(size_t* free, size_t* total);
using GetTotal = CUresult (*)(size_t*, CUdevice);

std::atomic<GetDevice> get_device = nullptr;
std::atomic<GetStreamDevice> get_stream_device = nullptr;  // drivers before 12.8 have none

std::atomic<GetMemory> get_memory = nullptr;
std::atomic<GetTotal> get_total = nullptr;

// Looked up when the core is attached, and again only if the driver was not there yet.
GetDevice find_get_device() {
  GetDevice function = get_device.load(std::memory_order_acquire);
  if (function == nullptr) {
    const auto find = [](const char* symbol) {
      return shim_services().loaded_symbol("libcuda.so.1", symbol);
    };
    function = reinterpret_cast<GetDevice>(find("cuCtxGetDevice"));
    if (function == nullptr) return nullptr;
    get_stream_device.store(reinterpret_cast<GetStreamDevice>(find("cuStreamGetDevice")),
                            std::memory_order_relaxed);
    get_memory.store(reinterpret_cast<GetMemory>(find("cuMemGetInfo_v2")),
                     std::memory_order_relaxed);
    get_total.store(reinterpret_cast<GetTotal>(find("cuDeviceTotalMem_v2")),
                    std::memory_order_relaxed);
    get_device.store(function, std::memory_order_release);
  }
  return function;
}

// The legacy and the thread's default stream belong to whatever context is current.
bool is_default(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

}  // namespace

void set_shim_services(const ShimServices* shim) {
  services.store(shim, std::memory_order_relaxed);
  find_get_device();
}

const ShimServices& shim_services() { return *services.load(std::memory_order_relaxed); }

int8_t current_device() {
  const GetDevice get = find_get_device();
  CUdevice device = 0;
  if (get == nullptr || get(&device) != CUDA_SUCCESS) return kNoDevice;
  return static_cast<int8_t>(device);
}

uint64_t free_bytes_plus_one() {
  if (find_get_device() == nullptr) return 0;
  const GetMemory get = get_memory.load(std::memory_order_relaxed);
  size_t free = 0;
  size_t total = 0;
  return get != nullptr && get(&free, &total) == CUDA_SUCCESS ? free + 1 : 0;
}

uint64_t total_bytes_of(int8_t device) {
  if (find_get_device() == nullptr) return 0;
  const GetTotal get = get_total.load(std::memory_order_relaxed);
  size_t total = 0;
  return get != nullptr && get(&total, device) == CUDA_SUCCESS ? total : 0;
}

int8_t device_of(CUstream stream) {
  const GetStreamDevice get = get_stream_device.load(std::memory_order_relaxed);
  CUdevice device = 0;
  if (is_default(stream) || get == nullptr || get(stream, &device) != CUDA_SUCCESS)
    return current_device();
  return static_cast<int8_t>(device);
}

int8_t device_of(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? static_cast<int8_t>(location.id)
                                                      : kNoDevice;
}

}  // namespace vramscope
