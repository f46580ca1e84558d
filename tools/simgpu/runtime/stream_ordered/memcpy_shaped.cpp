// Copies and sets of rectangles and boxes.

#include "tools/simgpu/runtime/copy_parameters.h"
#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

CUDA_MEMCPY2D rectangle(void* destination, size_t destination_pitch, const void* source,
                        size_t source_pitch, size_t width_bytes, size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = to_driver<CUdeviceptr>(source);
  copy.srcPitch = source_pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = to_driver<CUdeviceptr>(destination);
  copy.dstPitch = destination_pitch;
  copy.WidthInBytes = width_bytes;
  copy.Height = height;
  return copy;
}

/// The same with an array at one end, whose offsets and width count bytes too.
CUDA_MEMCPY2D to_array(cudaArray_t destination, size_t x_bytes, size_t y, const void* source,
                       size_t source_pitch, size_t width_bytes, size_t height) {
  CUDA_MEMCPY2D copy = rectangle(nullptr, 0, source, source_pitch, width_bytes, height);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = to_driver<CUarray>(destination);
  copy.dstXInBytes = x_bytes;
  copy.dstY = y;
  return copy;
}

CUDA_MEMCPY2D from_array(void* destination, size_t destination_pitch, cudaArray_const_t source,
                         size_t x_bytes, size_t y, size_t width_bytes, size_t height) {
  CUDA_MEMCPY2D copy = rectangle(destination, destination_pitch, nullptr, 0, width_bytes, height);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = to_driver<CUarray>(const_cast<cudaArray_t>(source));
  copy.srcXInBytes = x_bytes;
  copy.srcY = y;
  return copy;
}

/// Sets a box slice by slice, with `set_slice` for the rectangle at an address.
template <typename SetSlice>
cudaError_t set_slices(const cudaPitchedPtr& box, const cudaExtent& extent, SetSlice set_slice) {
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    void* start = static_cast<char*>(box.ptr) + slice * box.ysize * box.pitch;
    if (cudaError_t error = set_slice(start); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source,
                         size_t source_pitch, size_t width_bytes, size_t height, cudaMemcpyKind) {
  const CUDA_MEMCPY2D copy =
      rectangle(destination, destination_pitch, source, source_pitch, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DUnaligned>(&copy);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width_bytes, size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
  const CUDA_MEMCPY2D copy =
      rectangle(destination, destination_pitch, source, source_pitch, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t destination, size_t x_bytes, size_t y,
                                const void* source, size_t source_pitch, size_t width_bytes,
                                size_t height, cudaMemcpyKind) {
  const CUDA_MEMCPY2D copy =
      to_array(destination, x_bytes, y, source, source_pitch, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DUnaligned>(&copy);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t destination, size_t x_bytes, size_t y,
                                     const void* source, size_t source_pitch, size_t width_bytes,
                                     size_t height, cudaMemcpyKind, cudaStream_t stream) {
  const CUDA_MEMCPY2D copy =
      to_array(destination, x_bytes, y, source, source_pitch, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy2DFromArray(void* destination, size_t destination_pitch,
                                  cudaArray_const_t source, size_t x_bytes, size_t y,
                                  size_t width_bytes, size_t height, cudaMemcpyKind) {
  const CUDA_MEMCPY2D copy =
      from_array(destination, destination_pitch, source, x_bytes, y, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DUnaligned>(&copy);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* destination, size_t destination_pitch,
                                       cudaArray_const_t source, size_t x_bytes, size_t y,
                                       size_t width_bytes, size_t height, cudaMemcpyKind,
                                       cudaStream_t stream) {
  const CUDA_MEMCPY2D copy =
      from_array(destination, destination_pitch, source, x_bytes, y, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* wanted) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  const auto copy = to_driver_copy(*wanted);
  return forward<&DriverApi::cuMemcpy3D>(&copy);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* wanted, cudaStream_t stream) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  const auto copy = to_driver_copy(*wanted);
  return forward<&DriverApi::cuMemcpy3DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* wanted) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  CUDA_MEMCPY3D_PEER copy{};
  cudaError_t error = to_driver_copy(*wanted, &copy);
  return error != cudaSuccess ? error : forward<&DriverApi::cuMemcpy3DPeer>(&copy);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* wanted, cudaStream_t stream) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  CUDA_MEMCPY3D_PEER copy{};
  cudaError_t error = to_driver_copy(*wanted, &copy);
  return error != cudaSuccess ? error : forward<&DriverApi::cuMemcpy3DPeerAsync>(&copy, stream);
}

cudaError_t cudaMemset2D(void* address, size_t pitch_bytes, int value, size_t width_bytes,
                         size_t height) {
  return forward<&DriverApi::cuMemsetD2D8>(address, pitch_bytes, value, width_bytes, height);
}

cudaError_t cudaMemset2DAsync(void* address, size_t pitch_bytes, int value, size_t width_bytes,
                              size_t height, cudaStream_t stream) {
  return forward<&DriverApi::cuMemsetD2D8Async>(address, pitch_bytes, value, width_bytes, height,
                                                stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr box, int value, cudaExtent extent) {
  return set_slices(box, extent, [&](void* slice) {
    return cudaMemset2D(slice, box.pitch, value, extent.width, extent.height);
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr box, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return set_slices(box, extent, [&](void* slice) {
    return cudaMemset2DAsync(slice, box.pitch, value, extent.width, extent.height, stream);
  });
}

}  // extern "C"
