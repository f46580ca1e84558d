#include "tools/simgpu/libraries/common/kernel.h"

#include "tools/simgpu/libraries/common/driver.h"

namespace simgpu::libraries {
namespace {

constexpr char kKernelName[] = "simulated_library_kernel";
constexpr char kKernelCode[] =
    ".version 8.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry simulated_library_kernel() { ret; }\n";

/// Null where the driver cannot load it.
CUkernel load_kernel() {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  if (driver().load_library == nullptr || driver().get_kernel == nullptr) return nullptr;
  CUresult result =
      driver().load_library(&library, kKernelCode, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != CUDA_SUCCESS) return nullptr;
  return driver().get_kernel(&kernel, library, kKernelName) == CUDA_SUCCESS ? kernel : nullptr;
}

}  // namespace

CUresult launch_kernel(CUstream stream) {
  static const CUkernel kernel = load_kernel();
  if (kernel == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  return driver().launch_kernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, stream,
                                nullptr, nullptr);
}

}  // namespace simgpu::libraries
