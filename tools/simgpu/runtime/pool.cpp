// Memory pools as objects; allocation from them is in stream_ordered/pool_allocation.cpp.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return forward_for_device<&DriverApi::cuDeviceGetDefaultMemPool>(device, pool, device);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return forward_for_device<&DriverApi::cuDeviceGetMemPool>(device, pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return forward_for_device<&DriverApi::cuDeviceSetMemPool>(device, device, pool);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return forward<&DriverApi::cuMemPoolCreate>(pool, properties);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return forward<&DriverApi::cuMemPoolDestroy>(pool);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t min_bytes_to_keep) {
  return forward<&DriverApi::cuMemPoolTrimTo>(pool, min_bytes_to_keep);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return forward<&DriverApi::cuMemPoolSetAttribute>(pool, attribute, value);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return forward<&DriverApi::cuMemPoolGetAttribute>(pool, attribute, value);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 size_t count) {
  return forward<&DriverApi::cuMemPoolSetAccess>(pool, accesses, count);
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  return forward<&DriverApi::cuMemPoolGetAccess>(flags, pool, location);
}

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  return forward<&DriverApi::cuMemPoolExportToShareableHandle>(handle, pool, type, flags);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  return forward<&DriverApi::cuMemPoolImportFromShareableHandle>(pool, handle, type, flags);
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* address) {
  return forward<&DriverApi::cuMemPoolExportPointer>(data, address);
}

cudaError_t cudaMemPoolImportPointer(void** address, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData* data) {
  return forward<&DriverApi::cuMemPoolImportPointer>(address, pool, data);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return forward_for_device<&DriverApi::cuDeviceGetGraphMemAttribute>(device, device, attribute,
                                                                      value);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return forward_for_device<&DriverApi::cuDeviceSetGraphMemAttribute>(device, device, attribute,
                                                                      value);
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return forward_for_device<&DriverApi::cuDeviceGraphMemTrim>(device, device);
}

}  // extern "C"
