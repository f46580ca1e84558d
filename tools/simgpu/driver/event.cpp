#include "tools/simgpu/driver/event.h"

#include "tools/simgpu/core/shared_event.h"
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

// Notes where the stream is. Under capture that is a place in the graph, else a moment on the
// clock.
CUresult record(Driver& state, Event& event, Stream& stream) {
  if (stream.capture) {
    if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    event.capture_id = stream.capture->id;
    event.capture_tail = stream.capture_tail;
    return CUDA_SUCCESS;
  }
  state.devices[stream.device].timeline.enqueue(stream, simgpu_clock.now(), 0,
                                                state.configuration.lag_calls);
  event.capture_id = 0;
  mark_recorded(event, stream.busy_until, state.memory.shares());
  return CUDA_SUCCESS;
}

// The event, after the checks of the calls that wait for one: 400 for a dead handle, 907 where it
// was recorded in a capture that is still under way.
CUresult find_waitable(Driver& state, CUevent handle, Event** event) {
  *event = state.events.find(handle);
  if (!*event) return CUDA_ERROR_INVALID_HANDLE;
  if (Capture* capture = state.captures.of_event(**event)) {
    capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return result_of(state.captures.check_unsafe_call(this_thread().capture_mode));
}

}  // namespace

Effect record_effect(CUevent handle) {
  return [handle] {
    with_driver([handle](Driver& state) {
      if (Event* event = state.events.find(handle)) {
        mark_recorded(*event, simgpu_clock.now() + state.configuration.lag_calls,
                      state.memory.shares());
      }
      return CUDA_SUCCESS;
    });
  };
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  const bool interprocess = flags & CU_EVENT_INTERPROCESS;
  const bool timed = !(flags & CU_EVENT_DISABLE_TIMING);
  if (interprocess && timed) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Context* context = nullptr;
    if (const CUresult result = current_context(&context)) return result;
    *handle = handle_of<CUevent>(state.events.create(Event{context->device, timed, interprocess}));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return with_driver([&](Driver& state) {
    const std::unique_ptr<Event> event = state.events.remove(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    close_event(*event, state.memory.shares());
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  return with_driver([&](Driver& state) {
    Event* event = state.events.find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, stream_handle, &stream)) return result;
    if (stream->device != event->device) return CUDA_ERROR_INVALID_HANDLE;
    const bool external = flags & CU_EVENT_RECORD_EXTERNAL;
    if (stream->capture && external) {
      return result_of(
          state.captures.add(*stream, NodeType::kEventRecord, record_effect(handle), 0, ""));
    }
    return record(state, *event, *stream);
  });
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return cuEventRecordWithFlags(handle, stream, CU_EVENT_RECORD_DEFAULT);
}

// An event that was never recorded is complete.
CUresult cuEventQuery(CUevent handle) {
  return with_driver([&](Driver& state) {
    Event* event = nullptr;
    if (const CUresult result = find_waitable(state, handle, &event)) return result;
    const bool done = completion(*event, state.memory.shares()) <= simgpu_clock.now();
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_driver([&](Driver& state) {
    Event* event = nullptr;
    if (const CUresult result = find_waitable(state, handle, &event)) return result;
    simgpu_clock.advance_to(completion(*event, state.memory.shares()));
    state.memory.trim_pools(event->device);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  if (!milliseconds) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Event* start = state.events.find(start_handle);
    const Event* end = state.events.find(end_handle);
    if (!start || !end) return CUDA_ERROR_INVALID_HANDLE;
    const bool comparable = start->recorded && end->recorded && start->timed && end->timed &&
                            start->device == end->device;
    if (!comparable) return CUDA_ERROR_INVALID_HANDLE;
    const Ticks now = simgpu_clock.now();
    if (start->complete_at > now || end->complete_at > now) return CUDA_ERROR_NOT_READY;
    *milliseconds = elapsed_ms(*start, *end);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
