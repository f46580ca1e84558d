// cuInit and what is known without a device.
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr int kDriverVersion =
    13020;  // CUDA 13.2; a runtime of CUDA 13 refuses drivers below 13000

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const Status status = initialize_driver(); status != Status::kSuccess)
    return result_of(status);
  return driver().devices.empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

// The driver's own log of errors: there is none, so that a callback is never called.
CUresult cuLogsRegisterCallback(CUlogsCallback callback, void*, CUlogsCallbackHandle* handle) {
  if (!callback) return CUDA_ERROR_INVALID_VALUE;
  if (handle) *handle = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle) { return CUDA_SUCCESS; }

// There is nothing to profile; programs call these around what they want to see.
CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }
