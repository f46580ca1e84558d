// cuDNN: convolutions by the legacy functions. One algorithm exists; it needs no workspace.

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/stand_in.h"
#include "tools/simgpu/libraries/cudnn_facts.h"
#include "tools/simgpu/libraries/cudnn_workspace_warning.h"

using namespace simgpu::libraries::cudnn;

namespace {

/// cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t, which differ in the type of `algorithm` only.
struct AlgorithmPerformance {
  int algorithm;
  int status;
  float time_ms;
  size_t workspace_bytes;
  int determinism;
  int math_type;
  int reserved[3];
};
static_assert(sizeof(AlgorithmPerformance) == 48);

/// The usual default of all three directions (..._ALGO_1, FWD_ALGO_IMPLICIT_PRECOMP_GEMM).
constexpr int kOnlyAlgorithm = 1;

int only_algorithm(int capacity, int* count, AlgorithmPerformance* results) {
  if (capacity < 1) return kBadParameter;
  results[0] = {};
  results[0].algorithm = kOnlyAlgorithm;
  *count = 1;
  return kSuccess;
}

int convolve(long handle) {
  warn_about_workspaces();
  return simgpu::libraries::launch_on_handle(handle) ? kSuccess : kExecutionFailed;
}

}  // namespace

SIMGPU_EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(void*, void*, void*, void*, void*,
                                                         int capacity, int* count,
                                                         AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

SIMGPU_EXPORT int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void*, void*, void*, void*,
                                                              int capacity, int* count,
                                                              AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

SIMGPU_EXPORT int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, void*, void*, void*, void*,
                                                                int capacity, int* count,
                                                                AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

SIMGPU_EXPORT int cudnnFindConvolutionForwardAlgorithmEx(void*, void*, const void*, void*,
                                                         const void*, void*, void*, void*,
                                                         int capacity, int* count,
                                                         AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

SIMGPU_EXPORT int cudnnFindConvolutionBackwardDataAlgorithmEx(void*, void*, const void*, void*,
                                                              const void*, void*, void*, void*,
                                                              int capacity, int* count,
                                                              AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

SIMGPU_EXPORT int cudnnFindConvolutionBackwardFilterAlgorithmEx(void*, void*, const void*, void*,
                                                                const void*, void*, void*, void*,
                                                                int capacity, int* count,
                                                                AlgorithmPerformance* results) {
  return only_algorithm(capacity, count, results);
}

// Of these only the handle matters; the callers pass more arguments.
SIMGPU_EXPORT int cudnnConvolutionForward(long handle) { return convolve(handle); }

SIMGPU_EXPORT int cudnnConvolutionBackwardData(long handle) { return convolve(handle); }

SIMGPU_EXPORT int cudnnConvolutionBackwardFilter(long handle) { return convolve(handle); }

SIMGPU_EXPORT int cudnnConvolutionBiasActivationForward(long handle) { return convolve(handle); }
