// What the tests of the wrappers share: a recorder, a driver and a PyTorch of the test's own. The
// functions that the hooks are linked with are defined here: one file of a program includes it.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "api.h"
#include "preload/hooks/driver_call.h"
#include "recorder/log.h"
#include "recorder/recorder.h"

extern "C" int vramscope_core_attach(const ShimServices* shim, void** wrappers);

namespace {

struct Recorded {
  vramscope::Event event;
  vramscope::CallSite site;
};

std::vector<Recorded> recorded;
uint64_t clock_ticks = 0;

}  // namespace

namespace vramscope {

void log_warning(const char*, ...) {}

// The recorder that the hooks are linked with here. Every look at the clock moves it on.
uint64_t now_ticks() { return ++clock_ticks; }
uint64_t now_ticks_before_call() { return now_ticks(); }
void record(Event& event, const CallSite& site) {
  recorded.push_back({event, site});
  errno = EIO;  // Recording may do what it likes with errno: the caller must not see it.
}
bool record_mark(const Mark&) { return true; }
void record_plain(const Event&) {}
void set_thread_listener(void (*)()) {}
std::vector<uint64_t> scope_ticks;
void record_scope(uint64_t ticks) {
  scope_ticks.push_back(ticks);
  errno = EIO;
}
void set_api_names(const char* const*, uint16_t) {}
void finish_recording() {}

namespace {

constexpr CUdeviceptr kAddress = 0x7f0000200000;

template <typename Handle>
Handle handle(uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

// The driver and the libraries behind the hooks, by row and by symbol.
std::map<uint32_t, void*> real_functions;
std::map<std::string, void*> loaded_symbols;
int current_device_ordinal = 0;

CUresult get_device(CUdevice* device) {
  *device = current_device_ordinal;
  return current_device_ordinal >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

// The driver knows one stream.
constexpr uintptr_t kKnownStream = 0x57;
constexpr CUdevice kDeviceOfKnownStream = 6;

CUresult get_stream_device(CUstream stream, CUdevice* device) {
  *device = kDeviceOfKnownStream;
  return stream == handle<CUstream>(kKnownStream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

void* find_real(uint32_t row) { return real_functions.at(row); }

void* find_loaded(const char*, const char* symbol) {
  const auto found = loaded_symbols.find(symbol);
  return found == loaded_symbols.end() ? nullptr : found->second;
}

int* depth() {
  static thread_local int calls = 0;
  return &calls;
}

inline void watch_nothing(uint64_t*) {}

const ShimServices kShim = {kHookTableId, kApiCount, find_real, find_loaded, depth, watch_nothing};

struct StreamOfPyTorch {
  int8_t device_type;
  int8_t device_index;
  int64_t id;
};
StreamOfPyTorch current_stream_of(int8_t device) { return {1, device, 40 + device}; }
void* driver_stream_of(const StreamOfPyTorch* self) {
  return handle<void*>(static_cast<uintptr_t>(0x5000 + self->id));
}

void** attached_wrappers() {
  static void* wrappers[kApiCount] = {};
  static const int result = [] {
    loaded_symbols["cuCtxGetDevice"] = reinterpret_cast<void*>(get_device);
    loaded_symbols["cuStreamGetDevice"] = reinterpret_cast<void*>(get_stream_device);
    loaded_symbols["_ZN3c104cuda20getCurrentCUDAStreamEa"] =
        reinterpret_cast<void*>(current_stream_of);
    loaded_symbols["_ZNK3c104cuda10CUDAStream6streamEv"] =
        reinterpret_cast<void*>(driver_stream_of);
    for (uint32_t row = 0; row < kApiCount; ++row) real_functions[row] = nullptr;
    return vramscope_core_attach(&kShim, wrappers);
  }();
  EXPECT_EQ(result, 0);
  return wrappers;
}

template <Api kApi>
void set_real(Function<kApi>* function) {
  real_functions[static_cast<uint32_t>(kApi)] = reinterpret_cast<void*>(function);
}

template <Api kApi, typename... Arguments>
CUresult call(Arguments... arguments) {
  void* wrapper = attached_wrappers()[static_cast<uint32_t>(kApi)];
  return reinterpret_cast<Function<kApi>*>(wrapper)(arguments...);
}

}  // namespace
}  // namespace vramscope
