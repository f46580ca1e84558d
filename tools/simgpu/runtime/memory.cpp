// Memory: of the device, managed, pinned; what a pointer points to.

#include <cstring>
#include <iterator>

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

/// Element size that cudaMallocPitch hands to the driver; the runtime knows none.
constexpr unsigned kPitchElementBytes = 4;

cudaMemoryType memory_type(CUmemorytype driver_type, bool managed) {
  if (managed) return cudaMemoryTypeManaged;
  switch (driver_type) {
    case CU_MEMORYTYPE_DEVICE:
      return cudaMemoryTypeDevice;
    case CU_MEMORYTYPE_HOST:
      return cudaMemoryTypeHost;
    default:
      return cudaMemoryTypeUnregistered;
  }
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaMalloc(void** address, size_t size_bytes) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  *address = nullptr;  // nothing was asked for: success and no memory
  if (size_bytes == 0) return cudaSuccess;
  return forward<&DriverApi::cuMemAlloc>(address, size_bytes);
}

cudaError_t cudaFree(void* address) {
  // cudaFree(0) is the customary way to create the context.
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  if (address == nullptr) return cudaSuccess;
  return forward<&DriverApi::cuMemFree>(address);
}

cudaError_t cudaMallocPitch(void** address, size_t* pitch_bytes, size_t width_bytes,
                            size_t height) {
  return forward<&DriverApi::cuMemAllocPitch>(address, pitch_bytes, width_bytes, height,
                                              kPitchElementBytes);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return forward<&DriverApi::cuMemAllocPitch>(&pitched->ptr, &pitched->pitch, extent.width,
                                              extent.height * extent.depth, kPitchElementBytes);
}

cudaError_t cudaMallocManaged(void** address, size_t size_bytes, unsigned flags) {
  return forward<&DriverApi::cuMemAllocManaged>(address, size_bytes, flags);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return forward<&DriverApi::cuMemGetInfo>(free_bytes, total_bytes);
}

cudaError_t cudaMemAdvise(const void* address, size_t size_bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return forward<&DriverApi::cuMemAdvise>(address, size_bytes, advice,
                                          as_driver_struct<CUmemLocation>(location));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                     const void* address, size_t size_bytes) {
  return forward<&DriverApi::cuMemRangeGetAttribute>(data, data_bytes, attribute, address,
                                                     size_bytes);
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* address, size_t size_bytes) {
  return forward<&DriverApi::cuMemRangeGetAttributes>(data, data_bytes, attributes, count, address,
                                                      size_bytes);
}

cudaError_t cudaMallocHost(void** address, size_t size_bytes) {
  return forward<&DriverApi::cuMemHostAlloc>(address, size_bytes, 0);
}

cudaError_t cudaHostAlloc(void** address, size_t size_bytes, unsigned flags) {
  return forward<&DriverApi::cuMemHostAlloc>(address, size_bytes, flags);
}

cudaError_t cudaFreeHost(void* address) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  if (address == nullptr) return cudaSuccess;
  return forward<&DriverApi::cuMemFreeHost>(address);
}

cudaError_t cudaHostRegister(void* address, size_t size_bytes, unsigned flags) {
  return forward<&DriverApi::cuMemHostRegister>(address, size_bytes, flags);
}

cudaError_t cudaHostUnregister(void* address) {
  return forward<&DriverApi::cuMemHostUnregister>(address);
}

cudaError_t cudaHostGetDevicePointer(void** device_address, void* host_address, unsigned flags) {
  return forward<&DriverApi::cuMemHostGetDevicePointer>(device_address, host_address, flags);
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* address) {
  return forward<&DriverApi::cuMemHostGetFlags>(flags, address);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  CUmemorytype type{};
  unsigned managed = 0;
  int device = 0;
  void* device_address = nullptr;
  void* host_address = nullptr;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &managed, &device, &device_address, &host_address};
  // Of a pointer that is no CUDA memory, this call (unlike that for one attribute) gives zeros.
  cudaError_t error = forward<&DriverApi::cuPointerGetAttributes>(
      static_cast<unsigned>(std::size(wanted)), wanted, values, address);
  if (error != cudaSuccess) return error;

  std::memset(attributes, 0, sizeof *attributes);
  attributes->type = memory_type(type, managed != 0);
  const bool unregistered = attributes->type == cudaMemoryTypeUnregistered;
  attributes->device = unregistered ? cudaInvalidDeviceId : device;
  attributes->devicePointer = device_address;
  attributes->hostPointer = unregistered ? const_cast<void*>(address) : host_address;
  return cudaSuccess;
}

}  // extern "C"
