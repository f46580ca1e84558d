// Order within and between streams: queries, waits, events, callbacks, attributes.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return forward<&DriverApi::cuStreamSynchronize>(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return forward<&DriverApi::cuStreamQuery>(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return forward<&DriverApi::cuStreamWaitEvent>(stream, event, flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return forward<&DriverApi::cuStreamGetPriority>(stream, priority);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return forward<&DriverApi::cuStreamGetFlags>(stream, flags);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return forward<&DriverApi::cuStreamGetId>(stream, id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return forward<&DriverApi::cuStreamGetDevice>(stream, device);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  return forward<&DriverApi::cuStreamSetAttribute>(stream, attribute, value);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  return forward<&DriverApi::cuStreamGetAttribute>(stream, attribute, value);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
  return forward<&DriverApi::cuStreamCopyAttributes>(destination, source);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, size_t size_bytes,
                                     unsigned flags) {
  return forward<&DriverApi::cuStreamAttachMemAsync>(stream, address, size_bytes, flags);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned flags) {
  return forward<&DriverApi::cuStreamAddCallback>(stream, callback, user_data, flags);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return forward<&DriverApi::cuEventRecord>(event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return forward<&DriverApi::cuEventRecordWithFlags>(event, stream, flags);
}

}  // extern "C"
