// Tensor maps describe tensors to the copy engine of kernels, which do nothing here: they are left
// empty.
#include "tools/simgpu/driver/cuda_api.h"

namespace {

CUresult clear(CUtensorMap* map) {
  if (!map) return CUDA_ERROR_INVALID_VALUE;
  *map = {};
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void*,
                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return clear(map);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void*,
                                 const cuuint64_t*, const cuuint64_t*, const int*, const int*,
                                 cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
  return clear(map);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void*) {
  return map ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
