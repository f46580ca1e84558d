// CUPTI: there is nothing to profile, and programs have to learn it early.

#include <cstdint>

#include "tools/simgpu/libraries/common/export.h"

namespace {

// cupti_result.h and cupti_version.h of the wheels of CUDA 13.2.
constexpr int kSuccess = 0;
constexpr int kUnknownError = 999;
constexpr uint32_t kVersion = 130202;

}  // namespace

SIMGPU_EXPORT int cuptiGetVersion(uint32_t* version) {
  *version = kVersion;
  return kSuccess;
}

/// Fails as it does where another profiler is attached: without a word on stderr.
SIMGPU_EXPORT int cuptiSubscribe(void**, void*, void*) { return kUnknownError; }

SIMGPU_EXPORT int cuptiGetResultString(int, const char** text) {
  *text = "not supported by the simulated GPU";
  return kSuccess;
}
