// cuBLAS: copies of vectors and matrices between host and device, as copies of rectangles.

#include "tools/simgpu/libraries/common/driver.h"
#include "tools/simgpu/libraries/common/export.h"

namespace {

// cublas_api.h.
constexpr int kSuccess = 0;
constexpr int kMappingError = 11;

struct Rectangle {
  const void* source;
  size_t source_pitch;
  void* destination;
  size_t destination_pitch;
  size_t width_bytes;
  size_t height;
};

int copy(const Rectangle& wanted, CUstream stream) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(wanted.source);
  copy.srcPitch = wanted.source_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(wanted.destination);
  copy.dstPitch = wanted.destination_pitch;
  copy.WidthInBytes = wanted.width_bytes;
  copy.Height = wanted.height;
  const auto& driver = simgpu::libraries::driver();
  if (driver.copy_2d == nullptr) return kMappingError;
  return driver.copy_2d(&copy, stream) == CUDA_SUCCESS ? kSuccess : kMappingError;
}

int copy_and_wait(const Rectangle& wanted) {
  if (int error = copy(wanted, nullptr); error != kSuccess) return error;
  return simgpu::libraries::driver().synchronize(nullptr) == CUDA_SUCCESS ? kSuccess
                                                                          : kMappingError;
}

/// A vector's elements are rows of one element, `increment` elements apart.
Rectangle vector(int count, int element_bytes, const void* source, int source_increment,
                 void* destination, int destination_increment) {
  const auto element = static_cast<size_t>(element_bytes);
  return {source,  source_increment * element, destination, destination_increment * element,
          element, static_cast<size_t>(count)};
}

/// A matrix is stored by columns, `leading` elements apart.
Rectangle matrix(int rows, int columns, int element_bytes, const void* source, int source_leading,
                 void* destination, int destination_leading) {
  const auto element = static_cast<size_t>(element_bytes);
  return {source,         source_leading * element,    destination, destination_leading * element,
          rows * element, static_cast<size_t>(columns)};
}

}  // namespace

SIMGPU_EXPORT int cublasSetVector(int count, int element_bytes, const void* x, int x_increment,
                                  void* y, int y_increment) {
  return copy_and_wait(vector(count, element_bytes, x, x_increment, y, y_increment));
}

SIMGPU_EXPORT int cublasGetVector(int count, int element_bytes, const void* x, int x_increment,
                                  void* y, int y_increment) {
  return copy_and_wait(vector(count, element_bytes, x, x_increment, y, y_increment));
}

SIMGPU_EXPORT int cublasSetVectorAsync(int count, int element_bytes, const void* x, int x_increment,
                                       void* y, int y_increment, CUstream stream) {
  return copy(vector(count, element_bytes, x, x_increment, y, y_increment), stream);
}

SIMGPU_EXPORT int cublasGetVectorAsync(int count, int element_bytes, const void* x, int x_increment,
                                       void* y, int y_increment, CUstream stream) {
  return copy(vector(count, element_bytes, x, x_increment, y, y_increment), stream);
}

SIMGPU_EXPORT int cublasSetMatrix(int rows, int columns, int element_bytes, const void* a,
                                  int a_leading, void* b, int b_leading) {
  return copy_and_wait(matrix(rows, columns, element_bytes, a, a_leading, b, b_leading));
}

SIMGPU_EXPORT int cublasGetMatrix(int rows, int columns, int element_bytes, const void* a,
                                  int a_leading, void* b, int b_leading) {
  return copy_and_wait(matrix(rows, columns, element_bytes, a, a_leading, b, b_leading));
}

SIMGPU_EXPORT int cublasSetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                       int a_leading, void* b, int b_leading, CUstream stream) {
  return copy(matrix(rows, columns, element_bytes, a, a_leading, b, b_leading), stream);
}

SIMGPU_EXPORT int cublasGetMatrixAsync(int rows, int columns, int element_bytes, const void* a,
                                       int a_leading, void* b, int b_leading, CUstream stream) {
  return copy(matrix(rows, columns, element_bytes, a, a_leading, b, b_leading), stream);
}
