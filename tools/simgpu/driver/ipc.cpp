// Sharing linear memory and events with other processes.
#include "tools/simgpu/core/shared_event.h"
#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/sharing.h"

using namespace simgpu;

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return memory_call({.api = "cuIpcGetMemHandle", .address = address},
                     [&](Driver& state, MemoryCall&) {
                       Context* context = nullptr;
                       if (const CUresult result = current_context(&context)) return result;
                       if (!handle) return CUDA_ERROR_INVALID_VALUE;
                       ShareHandle made{};
                       const Status status = state.shared_memory.export_linear(address, &made);
                       if (status == Status::kSuccess) write_handle(made, handle);
                       return result_of(status);
                     });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return memory_call({.api = "cuIpcOpenMemHandle"}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    call.device = context->device;
    if (!address || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    const Status status = state.shared_memory.open_linear(share_handle(handle), &call.address);
    if (status == Status::kSuccess) *address = call.address;
    return result_of(status);
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return memory_call(
      {.api = "cuIpcCloseMemHandle", .address = address}, [&](Driver& state, MemoryCall&) {
        Context* context = nullptr;
        if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
        synchronize_device(state, context->device);  // work that uses the mapping must be done
        return result_of(state.shared_memory.close_linear(address));
      });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Event* event = state.events.find(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    ShareHandle made{};
    const Status status = export_event(*event, state.memory.shares(), &made);
    if (status == Status::kSuccess) write_handle(made, handle);
    return result_of(status);
  });
}

CUresult cuIpcOpenEventHandle(CUevent* event_handle, CUipcEventHandle handle) {
  if (!event_handle) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    Event event{};
    const Status status = open_event(share_handle(handle), state.memory.shares(), &event);
    if (status == Status::kSuccess) {
      *event_handle = handle_of<CUevent>(state.events.create(std::move(event)));
    }
    return result_of(status);
  });
}
