// cuFFT: plans are small numbers, so their streams are kept here.

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/kernel.h"

namespace {

// cufft.h of the wheels of CUDA 13.2.
constexpr int kSuccess = 0;
constexpr int kInvalidPlan = 1;
constexpr int kInvalidValue = 4;
constexpr int kExecutionFailed = 6;
constexpr int kVersion = 12200;

struct Plans {
  std::mutex mutex;
  std::unordered_map<int, CUstream> stream_of;
  int last_plan = 0;
};

// Never destroyed: destructors of the program may still destroy plans.
Plans& plans() {
  static auto* instance = new Plans;
  return *instance;
}

int create_plan(int* plan) {
  Plans& known = plans();
  std::lock_guard lock(known.mutex);
  *plan = ++known.last_plan;
  known.stream_of[*plan] = nullptr;
  return kSuccess;
}

int execute(int plan) {
  CUstream stream = nullptr;
  {
    Plans& known = plans();
    std::lock_guard lock(known.mutex);
    auto found = known.stream_of.find(plan);
    if (found == known.stream_of.end()) return kInvalidPlan;
    stream = found->second;
  }
  const CUresult result = simgpu::libraries::launch_kernel(stream);
  return result == CUDA_SUCCESS ? kSuccess : kExecutionFailed;
}

}  // namespace

SIMGPU_EXPORT int cufftCreate(int* plan) { return create_plan(plan); }

SIMGPU_EXPORT int cufftPlan1d(int* plan, int, int, int) { return create_plan(plan); }

SIMGPU_EXPORT int cufftPlan2d(int* plan, int, int, int) { return create_plan(plan); }

SIMGPU_EXPORT int cufftPlan3d(int* plan, int, int, int, int) { return create_plan(plan); }

SIMGPU_EXPORT int cufftPlanMany(int* plan, int, int*, int*, int, int, int*, int, int, int, int) {
  return create_plan(plan);
}

SIMGPU_EXPORT int cufftDestroy(int plan) {
  Plans& known = plans();
  std::lock_guard lock(known.mutex);
  return known.stream_of.erase(plan) == 1 ? kSuccess : kInvalidPlan;
}

SIMGPU_EXPORT int cufftSetStream(int plan, CUstream stream) {
  Plans& known = plans();
  std::lock_guard lock(known.mutex);
  auto found = known.stream_of.find(plan);
  if (found == known.stream_of.end()) return kInvalidPlan;
  found->second = stream;
  return kSuccess;
}

SIMGPU_EXPORT int cufftXtExec(int plan, void*, void*, int) { return execute(plan); }

SIMGPU_EXPORT int cufftExecC2C(int plan, void*, void*, int) { return execute(plan); }

SIMGPU_EXPORT int cufftExecR2C(int plan, void*, void*) { return execute(plan); }

SIMGPU_EXPORT int cufftExecC2R(int plan, void*, void*) { return execute(plan); }

SIMGPU_EXPORT int cufftExecZ2Z(int plan, void*, void*, int) { return execute(plan); }

SIMGPU_EXPORT int cufftExecD2Z(int plan, void*, void*) { return execute(plan); }

SIMGPU_EXPORT int cufftExecZ2D(int plan, void*, void*) { return execute(plan); }

SIMGPU_EXPORT int cufftGetVersion(int* version) {
  *version = kVersion;
  return kSuccess;
}

/// `property`: 0 major, 1 minor, 2 patch level (library_types.h).
SIMGPU_EXPORT int cufftGetProperty(int property, int* value) {
  constexpr int kParts[] = {kVersion / 1000, kVersion / 100 % 10, kVersion % 100};
  if (property < 0 || property > 2) return kInvalidValue;
  *value = kParts[property];
  return kSuccess;
}
