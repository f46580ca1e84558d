// Devices: count, selection, attributes, peers, limits, synchronisation.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  // Works without a device, and without a driver too: the version is then 0.
  *version = 0;
  load_driver();
  if (driver_api().cuDriverGetVersion == nullptr) return cudaSuccess;
  return call_driver(driver_api().cuDriverGetVersion, version);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kRuntimeVersion;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  cudaError_t error = initialise();
  *count = device_count();
  return error;
}

cudaError_t cudaSetDevice(int device) { return select_device(device); }

cudaError_t cudaGetDevice(int* device) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  if (device < 0 || device >= device_count()) return record_error(cudaErrorInvalidDevice);
  CUcontext context = nullptr;  // created, but not made current
  return primary_context(device, &context);
}

cudaError_t cudaDeviceReset() { return reset_current_device(); }

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  int active = 0;
  return call_driver(driver_api().cuDevicePrimaryCtxGetState, current_device(), flags, &active);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  return call_driver(driver_api().cuDevicePrimaryCtxSetFlags, current_device(), flags);
}

cudaError_t cudaDeviceSynchronize() { return forward<&DriverApi::cuCtxSynchronize>(); }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return forward_for_device<&DriverApi::cuDeviceGetAttribute>(device, value, attribute, device);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int capacity, int device) {
  return forward_for_device<&DriverApi::cuDeviceGetPCIBusId>(device, text, capacity, device);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pci_bus_id) {
  return forward_without_context<&DriverApi::cuDeviceGetByPCIBusId>(device, pci_bus_id);
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  return forward_for_device<&DriverApi::cuDeviceCanAccessPeer>(device, can_access, device, peer);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source,
                                      int destination) {
  return forward_for_device<&DriverApi::cuDeviceGetP2PAttribute>(source, value, attribute, source,
                                                                 destination);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (cudaError_t error = cudaInitDevice(peer, 0, 0); error != cudaSuccess) return error;
  CUcontext context = nullptr;
  if (cudaError_t error = primary_context(peer, &context); error != cudaSuccess) return error;
  return forward<&DriverApi::cuCtxEnablePeerAccess>(context, flags);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (cudaError_t error = cudaInitDevice(peer, 0, 0); error != cudaSuccess) return error;
  CUcontext context = nullptr;
  if (cudaError_t error = primary_context(peer, &context); error != cudaSuccess) return error;
  return forward<&DriverApi::cuCtxDisablePeerAccess>(context);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return forward<&DriverApi::cuCtxGetStreamPriorityRange>(least, greatest);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return forward<&DriverApi::cuCtxGetLimit>(value, limit);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return forward<&DriverApi::cuCtxSetLimit>(limit, value);
}

// Hints about caches: the hardware may ignore them, and the simulated one does.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* configuration) {
  *configuration = cudaFuncCachePreferNone;
  return bind_context();
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return bind_context(); }

cudaError_t cudaCtxResetPersistingL2Cache() { return bind_context(); }

cudaError_t cudaProfilerStart() { return forward<&DriverApi::cuProfilerStart>(); }

cudaError_t cudaProfilerStop() { return forward<&DriverApi::cuProfilerStop>(); }

}  // extern "C"
