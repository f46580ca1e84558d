// cuBLASLt: versions, the heuristic, attributes. Enumerations are passed as int.

#include <cstdint>
#include <cstring>

#include "tools/simgpu/libraries/common/export.h"

namespace {

// cublasLt.h of the wheels of CUDA 13.2.
constexpr int kSuccess = 0;
constexpr int kInvalidValue = 7;
constexpr size_t kVersion = 130401;

struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

/// The one algorithm that exists here: needs no workspace and fills the device.
HeuristicResult only_result() {
  HeuristicResult result{};
  result.waves = 1.0f;
  return result;
}

/// Nobody needs to read back what was set, so every attribute reads as zero of the wanted size.
int read_attribute(void* value, size_t size_bytes, size_t* written_bytes) {
  if (value != nullptr) std::memset(value, 0, size_bytes);
  if (written_bytes != nullptr) *written_bytes = size_bytes;
  return kSuccess;
}

}  // namespace

SIMGPU_EXPORT size_t cublasLtGetVersion() { return kVersion; }

SIMGPU_EXPORT size_t cublasLtGetCudartVersion() { return 13020; }

/// `property`: 0 major, 1 minor, 2 patch level (library_types.h).
SIMGPU_EXPORT int cublasLtGetProperty(int property, int* value) {
  constexpr int kParts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
  if (property < 0 || property > 2) return kInvalidValue;
  *value = kParts[property];
  return kSuccess;
}

SIMGPU_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*,
                                                 int capacity, HeuristicResult* results,
                                                 int* count) {
  if (capacity < 1) return kInvalidValue;
  results[0] = only_result();
  *count = 1;
  return kSuccess;
}

SIMGPU_EXPORT int cublasLtMatmulAlgoCheck(void*, void*, void*, void*, void*, void*, const void*,
                                          HeuristicResult* result) {
  *result = only_result();
  return kSuccess;
}

SIMGPU_EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const void*, int, void* value,
                                                       size_t size_bytes, size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtMatmulAlgoCapGetAttribute(const void*, int, void* value,
                                                    size_t size_bytes, size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtMatmulDescGetAttribute(void*, int, void* value, size_t size_bytes,
                                                 size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtMatmulPreferenceGetAttribute(void*, int, void* value, size_t size_bytes,
                                                       size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtMatrixLayoutGetAttribute(void*, int, void* value, size_t size_bytes,
                                                   size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtMatrixTransformDescGetAttribute(void*, int, void* value,
                                                          size_t size_bytes,
                                                          size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}

SIMGPU_EXPORT int cublasLtEmulationDescGetAttribute(void*, int, void* value, size_t size_bytes,
                                                    size_t* written_bytes) {
  return read_attribute(value, size_bytes, written_bytes);
}
