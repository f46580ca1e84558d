// cuSPARSE: the search for zero pivots, which answers on the host. The simulated analysis finds
// none.

#include "tools/simgpu/libraries/common/export.h"

namespace {

constexpr int kSuccess = 0;      // cusparse.h
constexpr int kNoPosition = -1;  // "no zero pivot" by the documentation

int no_zero_pivot(int* position) {
  *position = kNoPosition;
  return kSuccess;
}

}  // namespace

SIMGPU_EXPORT int cusparseXbsrsv2_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}

SIMGPU_EXPORT int cusparseXbsrsm2_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}

SIMGPU_EXPORT int cusparseXbsric02_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}

SIMGPU_EXPORT int cusparseXbsrilu02_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}

SIMGPU_EXPORT int cusparseXcsric02_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}

SIMGPU_EXPORT int cusparseXcsrilu02_zeroPivot(void*, void*, int* position) {
  return no_zero_pivot(position);
}
