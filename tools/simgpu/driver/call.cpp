#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

Stream* thread_default_stream(Driver& state, const Context& context) {
  Stream*& stream = this_thread().default_streams[context.device];
  if (!stream) {
    stream =
        state.streams.create(Stream{state.next_id(), context.device,
                                    state.devices[context.device].primary, StreamKind::kBlocking});
  }
  return stream;
}

}  // namespace

CUresult current_context(Context** context) {
  *context = this_thread().current();
  return *context && (*context)->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult context_for_unsafe_call(Driver& state, Context** context) {
  if (const CUresult result = current_context(context)) return result;
  return result_of(state.captures.check_unsafe_call(this_thread().capture_mode));
}

CUresult find_stream(Driver& state, CUstream handle, Stream** stream) {
  const bool is_default = handle == nullptr;
  if (is_default || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    const bool own = is_default ? simgpu_per_thread_stream : handle == CU_STREAM_PER_THREAD;
    *stream =
        own ? thread_default_stream(state, *context) : state.devices[context->device].legacy_stream;
    return CUDA_SUCCESS;
  }
  *stream = state.streams.find(handle);
  return *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void synchronize_device(Driver& state, int device) {
  simgpu_clock.advance_to(state.devices[device].timeline.done_at());
  state.memory.trim_pools(device);
}

void synchronize_stream(Driver& state, const Stream& stream) {
  simgpu_clock.advance_to(state.devices[stream.device].timeline.done_at(stream));
  state.memory.trim_pools(stream.device);
}

}  // namespace simgpu
