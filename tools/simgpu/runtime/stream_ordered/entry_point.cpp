// The driver's functions, handed to the program.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned cuda_version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  if (flags == cudaEnableDefault) flags = cudaEnablePerThreadDefaultStream;
#endif
  CUdriverProcAddressQueryResult driver_status{};
  cudaError_t error = call_driver(driver_get_proc_address(), symbol, function,
                                  static_cast<int>(cuda_version), flags, &driver_status);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(driver_status);
  return error;
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}

}  // extern "C"
