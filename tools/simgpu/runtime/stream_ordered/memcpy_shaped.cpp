// Copies and sets of rectangles and boxes.

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

/// Size of one element of an array, whose positions count elements; 1 where there is no array.
size_t element_bytes(cudaArray_t array) {
  if (array == nullptr) return 1;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  const CUarray handle = to_driver<CUarray>(array);
  if (driver_api().cuArray3DGetDescriptor(&descriptor, handle) != CUDA_SUCCESS) return 1;
  switch (descriptor.Format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return descriptor.NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2 * descriptor.NumChannels;
    default:
      return 4 * descriptor.NumChannels;
  }
}

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

/// What the parameters of a 3D copy inside a device and between devices have in common.
template <typename DriverCopy, typename RuntimeCopy>
DriverCopy box(const RuntimeCopy& wanted) {
  const size_t source_element = element_bytes(wanted.srcArray);
  const size_t destination_element = element_bytes(wanted.dstArray);
  DriverCopy copy{};
  copy.srcXInBytes = wanted.srcPos.x * source_element;
  copy.srcY = wanted.srcPos.y;
  copy.srcZ = wanted.srcPos.z;
  copy.srcMemoryType = wanted.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.srcArray = to_driver<CUarray>(wanted.srcArray);
  copy.srcDevice = to_driver<CUdeviceptr>(wanted.srcPtr.ptr);
  copy.srcPitch = wanted.srcPtr.pitch;
  copy.srcHeight = wanted.srcPtr.ysize;
  copy.dstXInBytes = wanted.dstPos.x * destination_element;
  copy.dstY = wanted.dstPos.y;
  copy.dstZ = wanted.dstPos.z;
  copy.dstMemoryType = wanted.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.dstArray = to_driver<CUarray>(wanted.dstArray);
  copy.dstDevice = to_driver<CUdeviceptr>(wanted.dstPtr.ptr);
  copy.dstPitch = wanted.dstPtr.pitch;
  copy.dstHeight = wanted.dstPtr.ysize;
  // The extent counts elements if an array takes part, and bytes if none does.
  const size_t element = wanted.srcArray != nullptr ? source_element : destination_element;
  copy.WidthInBytes = wanted.extent.width * element;
  copy.Height = wanted.extent.height;
  copy.Depth = wanted.extent.depth;
  return copy;
}

cudaError_t box_between_devices(const cudaMemcpy3DPeerParms& wanted, CUDA_MEMCPY3D_PEER* copy) {
  *copy = box<CUDA_MEMCPY3D_PEER>(wanted);
  if (cudaError_t error = primary_context(wanted.srcDevice, &copy->srcContext);
      error != cudaSuccess) {
    return error;
  }
  return primary_context(wanted.dstDevice, &copy->dstContext);
}

/// Sets a box row by row, with `set_row` for one row.
template <typename SetRow>
cudaError_t set_rows(const cudaPitchedPtr& box, const cudaExtent& extent, SetRow set_row) {
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    for (size_t row = 0; row < extent.height; ++row) {
      void* start = static_cast<char*>(box.ptr) + (slice * box.ysize + row) * box.pitch;
      if (cudaError_t error = set_row(start, extent.width); error != cudaSuccess) return error;
    }
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
  return forward<&DriverApi::cuMemcpy2D>(&copy);
}

cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source,
                              size_t source_pitch, size_t width_bytes, size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
  const CUDA_MEMCPY2D copy =
      rectangle(destination, destination_pitch, source, source_pitch, width_bytes, height);
  return forward<&DriverApi::cuMemcpy2DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* wanted) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  const auto copy = box<CUDA_MEMCPY3D>(*wanted);
  return forward<&DriverApi::cuMemcpy3D>(&copy);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* wanted, cudaStream_t stream) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  const auto copy = box<CUDA_MEMCPY3D>(*wanted);
  return forward<&DriverApi::cuMemcpy3DAsync>(&copy, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* wanted) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  CUDA_MEMCPY3D_PEER copy{};
  cudaError_t error = box_between_devices(*wanted, &copy);
  return error != cudaSuccess ? error : forward<&DriverApi::cuMemcpy3DPeer>(&copy);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* wanted, cudaStream_t stream) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  CUDA_MEMCPY3D_PEER copy{};
  cudaError_t error = box_between_devices(*wanted, &copy);
  return error != cudaSuccess ? error : forward<&DriverApi::cuMemcpy3DPeerAsync>(&copy, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr box, int value, cudaExtent extent) {
  return set_rows(box, extent, [value](void* row, size_t width_bytes) {
    return forward<&DriverApi::cuMemsetD8>(row, value, width_bytes);
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr box, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return set_rows(box, extent, [value, stream](void* row, size_t width_bytes) {
    return forward<&DriverApi::cuMemsetD8Async>(row, value, width_bytes, stream);
  });
}

cudaError_t cudaMemset2D(void* address, size_t pitch_bytes, int value, size_t width_bytes,
                         size_t height) {
  return cudaMemset3D({address, pitch_bytes, width_bytes, height}, value, {width_bytes, height, 1});
}

cudaError_t cudaMemset2DAsync(void* address, size_t pitch_bytes, int value, size_t width_bytes,
                              size_t height, cudaStream_t stream) {
  return cudaMemset3DAsync({address, pitch_bytes, width_bytes, height}, value,
                           {width_bytes, height, 1}, stream);
}

}  // extern "C"
