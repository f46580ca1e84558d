// What the hooks of all families share: the call being recorded, and what the shim does for us.
#pragma once

#include <cstdint>
#include <type_traits>

#include "api.h"
#include "preload/shim/core_interface.h"
#include "recorder/recorder.h"

namespace vramscope {

// Set once, before the first wrapper runs; immortal.
void set_shim_services(const ShimServices* services);
const ShimServices& shim_services();

template <Api kApi>
using Function = typename Signature<kApi>::type;

// What would have been called without us. Never null.
template <Api kApi>
Function<kApi>* real_function() {
  void* function = shim_services().real_function(static_cast<uint32_t>(kApi));
  return reinterpret_cast<Function<kApi>*>(function);
}

// Device of the calling thread's current context, or kNoDevice. Creates no context; legal during
// stream capture.
int8_t current_device();

// Device of a stream that the driver has just accepted.
int8_t device_of(CUstream stream);

// The device that a location names; kNoDevice for host memory of any kind.
int8_t device_of(const CUmemLocation& location);

// Bytes of the current context's device that are free, + 1; 0 if the driver does not tell. Legal
// during stream capture.
uint64_t free_bytes_plus_one();

// Bytes of a device in all; 0 if the driver does not tell.
uint64_t total_bytes_of(int8_t device);

// How a frame begins with -fno-omit-frame-pointer, on x86-64 and aarch64 alike.
struct Frame {
  uintptr_t frame_pointer;
  uintptr_t return_address;
};

// `frame`: __builtin_frame_address(0) of a wrapper, which was entered by a jump: its caller is the
// application.
inline CallSite caller_of(const void* frame) {
  const auto* saved = static_cast<const Frame*>(frame);
  return {saved->return_address, reinterpret_cast<uintptr_t>(saved + 1), saved->frame_pointer};
}

// Any handle, pointer or number as it stands in an event.
template <typename T>
uint64_t bits(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// One driver call after it returned; the family's description fills in the event.
class DriverCall {
 public:
  DriverCall(Api api, RecordKind kind) {
    event.kind = kind;
    event.device = kNoDevice;
    event.api = static_cast<uint16_t>(api);
  }

  bool succeeded() const { return event.result == CUDA_SUCCESS; }

  // A value that the driver returned through `where`: 0 if the call failed or nobody asked for it.
  template <typename T>
  uint64_t output(const T* where) const {
    return succeeded() && where != nullptr ? bits(*where) : 0;
  }

  // A structure that the caller passed: null unless the driver must have read it too. (Other errors
  // may mean that the pointer is wrong.)
  template <typename T>
  const T* input(const T* where) const {
    return succeeded() || event.result == CUDA_ERROR_OUT_OF_MEMORY ? where : nullptr;
  }

  // The driver refused it for lack of memory: what the device had left.
  void note_free_bytes() {
    if (event.device == current_device()) event.extra = free_bytes_plus_one();
  }

  // This call has nothing to do with memory after all.
  void skip() { is_skipped_ = true; }
  bool is_skipped() const { return is_skipped_; }

  Event event{};

 private:
  bool is_skipped_ = false;
};

// The calling thread is inside a hooked driver call: what the driver calls meanwhile is its own
// business and is forwarded only.
class DriverCallScope {
 public:
  DriverCallScope() : depth_(shim_services().call_depth()) { ++*depth_; }
  ~DriverCallScope() { --*depth_; }
  DriverCallScope(const DriverCallScope&) = delete;
  DriverCallScope& operator=(const DriverCallScope&) = delete;

  static bool is_inside() { return *shim_services().call_depth() > 0; }

 private:
  int* depth_;
};

}  // namespace vramscope
