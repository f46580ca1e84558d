#include "tools/simgpu/libraries/common/driver.h"

#include <dlfcn.h>

namespace simgpu::libraries {
namespace {

constexpr int kSignatureVersion = 12090;

class LookUp {
 public:
  LookUp() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) {
      get_proc_address_ =
          reinterpret_cast<decltype(get_proc_address_)>(dlsym(library, "cuGetProcAddress_v2"));
    }
  }

  template <typename Function>
  void operator()(const char* name, Function& function) const {
    void* found = nullptr;
    if (get_proc_address_ == nullptr) return;
    if (get_proc_address_(name, &found, kSignatureVersion, 0, nullptr) == CUDA_SUCCESS) {
      function = reinterpret_cast<Function>(found);
    }
  }

 private:
  decltype(&::cuGetProcAddress_v2) get_proc_address_ = nullptr;
};

Driver look_up_all() {
  Driver driver;
  const LookUp look_up;
  look_up("cuCtxGetDevice", driver.get_device);
  look_up("cuLaunchKernel", driver.launch_kernel);
  look_up("cuLibraryLoadData", driver.load_library);
  look_up("cuLibraryGetKernel", driver.get_kernel);
  look_up("cuMemAlloc", driver.allocate);
  look_up("cuMemFree", driver.free);
  look_up("cuMemcpyAsync", driver.copy);
  look_up("cuMemcpy2DAsync", driver.copy_2d);
  look_up("cuStreamSynchronize", driver.synchronize);
  look_up("cuStreamIsCapturing", driver.is_capturing);
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver looked_up = look_up_all();
  return looked_up;
}

}  // namespace simgpu::libraries
