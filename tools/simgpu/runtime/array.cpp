// Arrays (texture memory). The driver decides whether it has them.

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

/// Formats by kind (signed, unsigned, float) and by bits (8, 16, 32); CUarray_format has no other
/// for plain channels. 0 where there is none.
CUarray_format array_format(cudaChannelFormatKind kind, int bits) {
  switch (kind) {
    case cudaChannelFormatKindSigned:
      return bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
             : bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
                          : CU_AD_FORMAT_SIGNED_INT32;
    case cudaChannelFormatKindUnsigned:
      return bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
             : bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                          : CU_AD_FORMAT_UNSIGNED_INT32;
    case cudaChannelFormatKindFloat:
      return bits == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    default:
      return CUarray_format{};
  }
}

unsigned channel_count(const cudaChannelFormatDesc& description) {
  return (description.x != 0) + (description.y != 0) + (description.z != 0) + (description.w != 0);
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                              cudaExtent extent, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR wanted{};
  wanted.Width = extent.width;
  wanted.Height = extent.height;
  wanted.Depth = extent.depth;
  wanted.Format = array_format(description->f, description->x);
  wanted.NumChannels = channel_count(*description);
  wanted.Flags = flags;
  if (wanted.Format == CUarray_format{}) return record_error(cudaErrorInvalidChannelDescriptor);
  return forward<&DriverApi::cuArray3DCreate>(array, &wanted);
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description,
                            size_t width, size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  return forward<&DriverApi::cuArrayDestroy>(array);
}

}  // extern "C"
