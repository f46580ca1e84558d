// How every entry point gets at the driver's state.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "tools/simgpu/driver/cuda_api.h"
#include "tools/simgpu/driver/driver_state.h"
#include "tools/simgpu/driver/result.h"

namespace simgpu {

// Runs body(driver) -> CUresult with the driver's lock held.
template <typename Body>
CUresult with_driver(Body body) {
  Driver& state = driver();
  std::lock_guard lock(state.mutex);
  return body(state);
}

// The same for a call that the log keeps: body(driver, call) -> CUresult completes what `call`
// says. The line is written before the lock is released, so that the log's order is the order of
// what happened.
template <typename Body>
CUresult memory_call(MemoryCall call, Body body) {
  Driver& state = driver();
  std::lock_guard lock(state.mutex);
  const CUresult result = body(state, call);
  state.log.write(call, result);
  return result;
}

// Handles are the model's objects' addresses.
template <typename Object, typename Handle>
Object* object_of(Handle handle) {
  return reinterpret_cast<Object*>(handle);
}
template <typename Handle, typename Object>
Handle handle_of(Object* object) {
  return reinterpret_cast<Handle>(object);
}
// Any handle or pointer as the number that the log shows.
template <typename Pointer>
uint64_t number_of(Pointer pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

inline bool is_device(const Driver& state, int ordinal) {
  return ordinal >= 0 && ordinal < static_cast<int>(state.devices.size());
}

// The thread's current context, after the checks that most calls begin with: 201 without one.
CUresult current_context(Context** context);

// The same for calls that may synchronise, which captures forbid.
CUresult context_for_unsafe_call(Driver& state, Context** context);

// The stream that a handle means: 0 the default stream (the thread's own in calls of the per-thread
// API), 1 the legacy one, 2 the thread's own. 201 where that needs a current context, 400 for a
// dead handle.
CUresult find_stream(Driver& state, CUstream handle, Stream** stream);

// Advances the clock until the device has done everything, and lets its pools return memory.
void synchronize_device(Driver& state, int device);
void synchronize_stream(Driver& state, const Stream& stream);

struct Work {
  NodeType type;
  Ticks duration = 0;
  std::string label = {};
};

// Puts work into a stream: a node where the stream is being captured, else done at once (its data,
// not its time).
template <typename Function>
CUresult enqueue(CUstream handle, const Work& work, Function effect) {
  Driver& state = driver();
  {
    std::lock_guard lock(state.mutex);
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, handle, &stream)) return result;
    if (stream->capture) {
      return result_of(
          state.captures.add(*stream, work.type, std::move(effect), work.duration, work.label));
    }
    state.devices[stream->device].timeline.enqueue(*stream, simgpu_clock.now(), work.duration,
                                                   state.configuration.lag_calls);
  }
  effect();
  return CUDA_SUCCESS;
}

// The blocking form of the same on the default stream: done, also on the clock, when it returns.
template <typename Function>
CUresult run_blocking(Function effect) {
  Driver& state = driver();
  {
    std::lock_guard lock(state.mutex);
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    Stream* stream = nullptr;
    if (const CUresult result = find_stream(state, nullptr, &stream)) return result;
    synchronize_stream(state, *stream);
  }
  effect();
  return CUDA_SUCCESS;
}

}  // namespace simgpu
