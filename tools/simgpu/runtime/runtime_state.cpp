#include "tools/simgpu/runtime/runtime_state.h"

#include <dlfcn.h>

#include <array>
#include <mutex>

#include "tools/simgpu/runtime/driver_api.h"

namespace simgpu::runtime {
namespace {

/// CUDA's own limit for devices in one process.
constexpr int kMaxDevices = 64;

struct Driver {
  GetProcAddress get_proc_address = nullptr;
  cudaError_t status = cudaErrorInitializationError;
  int device_count = 0;
};

struct PrimaryContexts {
  std::mutex mutex;
  std::array<CUcontext, kMaxDevices> contexts{};
};

struct ThreadState {
  cudaError_t last_error = cudaSuccess;
  int selected_device = 0;
};

Driver driver;
std::once_flag driver_loaded;
thread_local ThreadState thread_state;

// Never destroyed: other libraries' destructors still call the runtime.
PrimaryContexts& primary_contexts() {
  static auto* instance = new PrimaryContexts;
  return *instance;
}

cudaError_t find_and_initialise_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return cudaErrorInsufficientDriver;
  // The public way in, by the public name: a profiler that replaces dlsym sees every later call.
  driver.get_proc_address = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (driver.get_proc_address == nullptr) return cudaErrorInsufficientDriver;

  const DriverApi& api = driver_api();
  if (CUresult result = api.cuInit(0); result != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(result);
  }
  int version = 0;
  api.cuDriverGetVersion(&version);
  if (version < kOldestDriverVersion) return cudaErrorInsufficientDriver;
  api.cuDeviceGetCount(&driver.device_count);
  if (driver.device_count > kMaxDevices) driver.device_count = kMaxDevices;
  return driver.device_count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

}  // namespace

cudaError_t load_driver() {
  std::call_once(driver_loaded, [] { driver.status = find_and_initialise_driver(); });
  return driver.status;
}

cudaError_t initialise() { return record_error(load_driver()); }

void* driver_function(const char* name, cuuint64_t flags) {
  void* function = nullptr;
  if (driver.get_proc_address == nullptr) return nullptr;
  CUresult result =
      driver.get_proc_address(name, &function, kDriverSignatureVersion, flags, nullptr);
  return result == CUDA_SUCCESS ? function : nullptr;
}

GetProcAddress driver_get_proc_address() { return driver.get_proc_address; }

int device_count() { return driver.device_count; }

int current_device() {
  CUcontext context = nullptr;
  CUdevice device = 0;
  driver_api().cuCtxGetCurrent(&context);
  if (context != nullptr && driver_api().cuCtxGetDevice(&device) == CUDA_SUCCESS) return device;
  return thread_state.selected_device;
}

cudaError_t primary_context(int device, CUcontext* context) {
  PrimaryContexts& primary = primary_contexts();
  std::lock_guard lock(primary.mutex);
  CUcontext& retained = primary.contexts[device];
  if (retained == nullptr) {
    CUresult result = driver_api().cuDevicePrimaryCtxRetain(&retained, device);
    if (result != CUDA_SUCCESS) return record_error(result);
  }
  *context = retained;
  return cudaSuccess;
}

cudaError_t select_device(int device) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  if (device < 0 || device >= driver.device_count) return record_error(cudaErrorInvalidDevice);
  CUcontext context = nullptr;
  if (cudaError_t error = primary_context(device, &context); error != cudaSuccess) return error;
  thread_state.selected_device = device;
  return record_error(driver_api().cuCtxSetCurrent(context));
}

cudaError_t bind_context() {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  CUcontext context = nullptr;
  driver_api().cuCtxGetCurrent(&context);
  return context != nullptr ? cudaSuccess : select_device(thread_state.selected_device);
}

cudaError_t reset_current_device() {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  const int device = current_device();
  PrimaryContexts& primary = primary_contexts();
  std::lock_guard lock(primary.mutex);
  if (primary.contexts[device] == nullptr) return cudaSuccess;
  primary.contexts[device] = nullptr;
  driver_api().cuCtxSetCurrent(nullptr);
  return record_error(driver_api().cuDevicePrimaryCtxReset(device));
}

cudaError_t record_error(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) thread_state.last_error = error;
  return error;
}

cudaError_t record_error(CUresult result) { return record_error(static_cast<cudaError_t>(result)); }

cudaError_t peek_last_error() { return thread_state.last_error; }

cudaError_t take_last_error() {
  const cudaError_t error = thread_state.last_error;
  thread_state.last_error = cudaSuccess;
  return error;
}

}  // namespace simgpu::runtime
