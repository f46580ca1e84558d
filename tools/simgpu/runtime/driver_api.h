#pragma once

#include "tools/simgpu/runtime/cuda_headers.h"

/// One row per driver entry point that the runtime calls, under the name that cuGetProcAddress
/// takes.
// clang-format off
#define SIMGPU_DRIVER_FUNCTIONS(ROW) \
  /* devices and contexts */ \
  ROW(cuInit) ROW(cuDriverGetVersion) ROW(cuDeviceGetCount) ROW(cuDeviceGetName) \
  ROW(cuDeviceTotalMem) ROW(cuDeviceGetAttribute) ROW(cuDeviceGetUuid) \
  ROW(cuDeviceGetPCIBusId) ROW(cuDeviceGetByPCIBusId) ROW(cuDeviceCanAccessPeer) \
  ROW(cuDeviceGetP2PAttribute) ROW(cuDevicePrimaryCtxRetain) \
  ROW(cuDevicePrimaryCtxReset) ROW(cuDevicePrimaryCtxGetState) ROW(cuDevicePrimaryCtxSetFlags) \
  ROW(cuCtxSetCurrent) ROW(cuCtxGetCurrent) ROW(cuCtxGetDevice) \
  ROW(cuCtxSynchronize) ROW(cuCtxGetStreamPriorityRange) ROW(cuCtxGetLimit) ROW(cuCtxSetLimit) \
  ROW(cuCtxEnablePeerAccess) ROW(cuCtxDisablePeerAccess) \
  ROW(cuProfilerStart) ROW(cuProfilerStop) \
  /* memory */ \
  ROW(cuMemGetInfo) ROW(cuMemAlloc) ROW(cuMemAllocPitch) ROW(cuMemFree) ROW(cuMemAllocManaged) \
  ROW(cuMemHostAlloc) ROW(cuMemFreeHost) ROW(cuMemHostRegister) ROW(cuMemHostUnregister) \
  ROW(cuMemHostGetDevicePointer) ROW(cuMemHostGetFlags) ROW(cuPointerGetAttributes) \
  ROW(cuMemAdvise) ROW(cuMemPrefetchAsync) ROW(cuMemRangeGetAttribute) \
  ROW(cuMemRangeGetAttributes) ROW(cuIpcGetMemHandle) \
  ROW(cuIpcOpenMemHandle) ROW(cuIpcCloseMemHandle) ROW(cuIpcGetEventHandle) \
  ROW(cuIpcOpenEventHandle) ROW(cuArray3DCreate) ROW(cuArray3DGetDescriptor) \
  ROW(cuArrayDestroy) \
  /* stream-ordered memory */ \
  ROW(cuMemAllocAsync) ROW(cuMemFreeAsync) ROW(cuMemAllocFromPoolAsync) \
  ROW(cuDeviceGetDefaultMemPool) ROW(cuDeviceGetMemPool) ROW(cuDeviceSetMemPool) \
  ROW(cuMemPoolCreate) ROW(cuMemPoolDestroy) ROW(cuMemPoolTrimTo) ROW(cuMemPoolSetAttribute) \
  ROW(cuMemPoolGetAttribute) ROW(cuMemPoolSetAccess) ROW(cuMemPoolGetAccess) \
  ROW(cuMemPoolExportToShareableHandle) ROW(cuMemPoolImportFromShareableHandle) \
  ROW(cuMemPoolExportPointer) ROW(cuMemPoolImportPointer) ROW(cuDeviceGetGraphMemAttribute) \
  ROW(cuDeviceSetGraphMemAttribute) ROW(cuDeviceGraphMemTrim) \
  /* copies and sets */ \
  ROW(cuMemcpy) ROW(cuMemcpyAsync) ROW(cuMemcpyPeer) ROW(cuMemcpyPeerAsync) \
  ROW(cuMemcpy2DUnaligned) ROW(cuMemcpy2DAsync) ROW(cuMemcpy3D) ROW(cuMemcpy3DAsync) \
  ROW(cuMemcpy3DPeer) ROW(cuMemcpy3DPeerAsync) ROW(cuMemsetD8) ROW(cuMemsetD8Async) \
  ROW(cuMemsetD2D8) ROW(cuMemsetD2D8Async) \
  /* streams, capture and events */ \
  ROW(cuStreamCreateWithPriority) ROW(cuStreamDestroy) ROW(cuStreamSynchronize) \
  ROW(cuStreamQuery) ROW(cuStreamWaitEvent) ROW(cuStreamGetPriority) ROW(cuStreamGetFlags) \
  ROW(cuStreamGetId) ROW(cuStreamGetDevice) ROW(cuStreamSetAttribute) ROW(cuStreamGetAttribute) \
  ROW(cuStreamCopyAttributes) ROW(cuStreamAttachMemAsync) ROW(cuStreamAddCallback) \
  ROW(cuLaunchHostFunc) ROW(cuStreamIsCapturing) ROW(cuStreamGetCaptureInfo) \
  ROW(cuStreamBeginCapture) ROW(cuStreamBeginCaptureToGraph) ROW(cuStreamEndCapture) \
  ROW(cuStreamUpdateCaptureDependencies) ROW(cuThreadExchangeStreamCaptureMode) \
  ROW(cuEventCreate) ROW(cuEventDestroy) ROW(cuEventRecord) ROW(cuEventRecordWithFlags) \
  ROW(cuEventQuery) ROW(cuEventSynchronize) ROW(cuEventElapsedTime) \
  /* graphs */ \
  ROW(cuGraphCreate) ROW(cuGraphDestroy) ROW(cuGraphClone) ROW(cuGraphGetNodes) \
  ROW(cuGraphGetRootNodes) ROW(cuGraphGetEdges) ROW(cuGraphNodeGetType) \
  ROW(cuGraphNodeGetDependencies) ROW(cuGraphNodeGetDependentNodes) ROW(cuGraphAddDependencies) \
  ROW(cuGraphRemoveDependencies) ROW(cuGraphDestroyNode) ROW(cuGraphAddEmptyNode) \
  ROW(cuGraphAddChildGraphNode) ROW(cuGraphAddKernelNode) ROW(cuGraphAddMemcpyNode) \
  ROW(cuGraphAddMemsetNode) ROW(cuGraphAddHostNode) ROW(cuGraphAddEventRecordNode) \
  ROW(cuGraphAddEventWaitNode) ROW(cuGraphAddMemAllocNode) ROW(cuGraphAddMemFreeNode) \
  ROW(cuGraphExecUpdate) ROW(cuGraphInstantiateWithFlags) \
  ROW(cuGraphInstantiateWithParams) ROW(cuGraphLaunch) \
  ROW(cuGraphUpload) ROW(cuGraphExecDestroy) ROW(cuGraphExecGetFlags) ROW(cuGraphDebugDotPrint) \
  ROW(cuUserObjectCreate) ROW(cuUserObjectRetain) ROW(cuUserObjectRelease) \
  ROW(cuGraphRetainUserObject) ROW(cuGraphReleaseUserObject) \
  /* code */ \
  ROW(cuLibraryLoadData) ROW(cuLibraryLoadFromFile) ROW(cuLibraryUnload) ROW(cuLibraryGetKernel) \
  ROW(cuLibraryGetKernelCount) ROW(cuLibraryEnumerateKernels) ROW(cuLibraryGetGlobal) \
  ROW(cuLibraryGetManaged) ROW(cuLibraryGetUnifiedFunction) ROW(cuKernelGetFunction) \
  ROW(cuKernelGetName) ROW(cuKernelGetAttribute) ROW(cuKernelSetAttribute) \
  ROW(cuLaunchKernel) ROW(cuLaunchCooperativeKernel)
// clang-format on

namespace simgpu::runtime {
inline namespace SIMGPU_DEFAULT_STREAM {

/// The driver's functions, in the signatures of CUDA 12.9: version 13000 would select context calls
/// with other ones. A member is null where the driver does not know the function.
struct DriverApi {
// A declaration takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define SIMGPU_MEMBER(name) decltype(&::name) name = nullptr;
  SIMGPU_DRIVER_FUNCTIONS(SIMGPU_MEMBER)
#undef SIMGPU_MEMBER
};

/// Looked up at the first call, through cuGetProcAddress; any thread. Valid once `initialise()`
/// (see runtime_state.h) has succeeded. There are two: in stream_ordered/, stream 0 is the legacy
/// default stream in one and the calling thread's own in the other.
const DriverApi& driver_api();

}  // namespace SIMGPU_DEFAULT_STREAM
}  // namespace simgpu::runtime
