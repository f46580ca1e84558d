// Sharing between processes: the driver decides whether it can.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  return forward<&DriverApi::cuIpcGetMemHandle>(handle, address);
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  return forward<&DriverApi::cuIpcOpenMemHandle>(address, as_driver_struct<CUipcMemHandle>(handle),
                                                 flags);
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  return forward<&DriverApi::cuIpcCloseMemHandle>(address);
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return forward<&DriverApi::cuIpcGetEventHandle>(handle, event);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return forward<&DriverApi::cuIpcOpenEventHandle>(event,
                                                   as_driver_struct<CUipcEventHandle>(handle));
}

}  // extern "C"
