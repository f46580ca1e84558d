#include "tools/simgpu/runtime/copy_parameters.h"

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

}  // namespace

CUDA_MEMCPY3D to_driver_copy(const cudaMemcpy3DParms& wanted) { return box<CUDA_MEMCPY3D>(wanted); }

cudaError_t to_driver_copy(const cudaMemcpy3DPeerParms& wanted, CUDA_MEMCPY3D_PEER* copy) {
  *copy = box<CUDA_MEMCPY3D_PEER>(wanted);
  cudaError_t error = primary_context(wanted.srcDevice, &copy->srcContext);
  if (error != cudaSuccess) return error;
  return primary_context(wanted.dstDevice, &copy->dstContext);
}

}  // namespace simgpu::runtime
