// Streams.
#include <algorithm>

#include "tools/simgpu/core/shared_event.h"
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

CUresult with_stream(CUstream handle, auto body) {
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    return body(state, *stream);
  });
}

}  // namespace

Stream* create_stream(Driver& state, Context* context, unsigned flags, int priority) {
  constexpr int kGreatestPriority = -5;
  constexpr int kLeastPriority = 0;
  return state.streams.create(
      Stream{state.next_id(), context->device, context,
             flags & CU_STREAM_NON_BLOCKING ? StreamKind::kNonBlocking : StreamKind::kBlocking,
             std::clamp(priority, kGreatestPriority, kLeastPriority)});
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
  if (!handle || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    *handle = handle_of<CUstream>(create_stream(state, context, flags, priority));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
  return cuStreamCreateWithPriority(handle, flags, 0);
}

// Work in the stream still gets done: its time is kept by the device.
CUresult cuStreamDestroy_v2(CUstream handle) {
  return with_driver([&](Driver& state) {
    Stream* stream = state.streams.find(handle);
    if (!stream || stream->kind == StreamKind::kLegacy) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      stream->capture->invalidated = true;
      stream->capture->streams.erase(stream);
      if (stream->capture->origin == stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    state.streams.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(handle, [&](Driver& state, Stream& stream) {
    if (stream.capture) return result_of(CaptureRegistry::invalidate(stream));
    const Status status = state.captures.check_unsafe_call(this_thread().capture_mode);
    if (status == Status::kSuccess) synchronize_stream(state, stream);
    return result_of(status);
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return with_stream(handle, [&](Driver& state, Stream& stream) {
    if (stream.capture) return result_of(CaptureRegistry::invalidate(stream));
    const Ticks done_at = state.devices[stream.device].timeline.done_at(stream);
    return done_at > simgpu_clock.now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Driver&, const Stream& stream) {
    *flags = stream.kind == StreamKind::kNonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Driver&, const Stream& stream) {
    *priority = stream.priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Driver&, const Stream& stream) {
    *id = stream.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Driver&, const Stream& stream) {
    *device = stream.device;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [&](Driver&, const Stream& stream) {
    *context = handle_of<CUcontext>(const_cast<void*>(stream.context));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  return with_stream(handle, [&](Driver& state, Stream& stream) {
    const Event* event = state.events.find(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (state.captures.of_event(*event)) return result_of(state.captures.join(stream, *event));
    // A stream under capture waits for what happened before the capture: nothing to do.
    const Ticks done = completion(*event, state.memory.shares());
    if (done > 0 && !stream.capture) {
      state.devices[stream.device].timeline.wait_until(stream, done);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* argument) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(handle, {NodeType::kHost}, [=] { function(argument); });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* argument,
                             unsigned flags) {
  if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = with_stream(handle, [](Driver&, Stream& stream) {
    return result_of(CaptureRegistry::invalidate(stream));
  });
  if (result != CUDA_SUCCESS) return result;
  return enqueue(handle, {NodeType::kHost}, [=] { callback(handle, CUDA_SUCCESS, argument); });
}

// Where managed memory belongs makes no difference here.
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr, size_t, unsigned) {
  return enqueue(handle, {NodeType::kEmpty}, [] {});
}

// Attributes steer caches and priorities of kernels; accepted, and read back as zero.
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID, const CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return with_stream(handle, [](Driver&, Stream&) { return CUDA_SUCCESS; });
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID, CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  *value = {};
  return with_stream(handle, [](Driver&, Stream&) { return CUDA_SUCCESS; });
}

CUresult cuStreamCopyAttributes(CUstream destination, CUstream source) {
  return with_driver([&](Driver& state) {
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, source, &stream)) return result;
    return find_stream(state, destination, &stream);
  });
}
