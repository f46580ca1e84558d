// cuBLAS: the handle and its modes, versions. Enumerations are passed as int.

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/stand_in.h"

using simgpu::libraries::Object;

namespace {

// cublas_api.h of the wheels of CUDA 13.2.
constexpr int kSuccess = 0;
constexpr int kInvalidValue = 7;
constexpr int kVersion = 130401;

struct Handle : Object {
  int math_mode = 0;  // CUBLAS_DEFAULT_MATH
};

Handle* as_handle(void* handle) { return static_cast<Handle*>(static_cast<Object*>(handle)); }

}  // namespace

SIMGPU_EXPORT int cublasCreate_v2(Object** handle) {
  *handle = new Handle;
  return kSuccess;
}

SIMGPU_EXPORT int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = as_handle(handle)->pointer_mode;
  return kSuccess;
}

SIMGPU_EXPORT int cublasSetPointerMode_v2(void* handle, int mode) {
  as_handle(handle)->pointer_mode = mode;
  return kSuccess;
}

SIMGPU_EXPORT int cublasGetMathMode(void* handle, int* mode) {
  *mode = as_handle(handle)->math_mode;
  return kSuccess;
}

SIMGPU_EXPORT int cublasSetMathMode(void* handle, int mode) {
  as_handle(handle)->math_mode = mode;
  return kSuccess;
}

SIMGPU_EXPORT int cublasGetVersion_v2(void*, int* version) {
  *version = kVersion;
  return kSuccess;
}

SIMGPU_EXPORT size_t cublasGetCudartVersion() { return 13020; }

/// `property`: 0 major, 1 minor, 2 patch level (library_types.h).
SIMGPU_EXPORT int cublasGetProperty(int property, int* value) {
  constexpr int kParts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
  if (property < 0 || property > 2) return kInvalidValue;
  *value = kParts[property];
  return kSuccess;
}
