// Streams and events as objects; what is ordered by them is in stream_ordered/.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return forward<&DriverApi::cuStreamCreateWithPriority>(stream, flags, priority);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return forward<&DriverApi::cuStreamDestroy>(stream);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return forward_without_context<&DriverApi::cuThreadExchangeStreamCaptureMode>(mode);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return forward<&DriverApi::cuEventCreate>(event, flags);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return forward<&DriverApi::cuEventDestroy>(event);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return forward<&DriverApi::cuEventQuery>(event); }

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return forward<&DriverApi::cuEventSynchronize>(event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return forward<&DriverApi::cuEventElapsedTime>(milliseconds, start, end);
}

}  // extern "C"
