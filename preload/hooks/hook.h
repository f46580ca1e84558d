// The one wrapper that all hooked driver entry points are made from.
//
// A family is a list of hooks, each saying in one line: entry point, kind of event, and a
// description, a captureless function object that fills in the event from the arguments:
//
//   constexpr auto kFree = [](DriverCall& call, auto address) { call.event.address = address; };
//   using Hooks = HookList<Closes<Api::cuMemFree_v2, RecordKind::kDeviceFree, kFree>, ...>;
//
// The wrapper's signature is that of cuda.h, so a description that does not fit does not compile.
// The driver is always called, with the arguments as they came, and its result and errno are
// returned as they are.
#pragma once

#include <cerrno>

#include "preload/hooks/driver_call.h"
#include "recorder/recorder.h"

namespace vramscope {

// When an event's ticks are taken. What frees takes them before the real call and what allocates
// after it, so that for one address free comes before the next alloc, across threads.
enum class Ticks { kBeforeCall, kAfterCall };

template <Api kApi, RecordKind kKind, Ticks kTicks, auto kDescribe,
          typename Signature = Function<kApi>>
struct Hook;

template <Api kHookedApi, RecordKind kKind, Ticks kTicks, auto kDescribe, typename... Arguments>
struct Hook<kHookedApi, kKind, kTicks, kDescribe, CUresult(Arguments...)> {
  static constexpr Api kApi = kHookedApi;

  static CUresult CUDAAPI call(Arguments... arguments) {
    if (DriverCallScope::is_inside()) return real_function<kApi>()(arguments...);
    DriverCall call(kApi, kKind);
    if constexpr (kTicks == Ticks::kBeforeCall) call.event.ticks = now_ticks_before_call();
    const CUresult result = [&] {
      const DriverCallScope scope;
      return real_function<kApi>()(arguments...);
    }();
    const int driver_errno = errno;
    if constexpr (kTicks == Ticks::kAfterCall) call.event.ticks = now_ticks();
    call.event.result = result;
    kDescribe(call, arguments...);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) [[unlikely]]
      call.note_free_bytes();
    if (!call.is_skipped()) record(call.event, caller_of(__builtin_frame_address(0)));
    errno = driver_errno;
    return result;
  }
};

template <Api kApi, RecordKind kKind, auto kDescribe>
using Opens = Hook<kApi, kKind, Ticks::kAfterCall, kDescribe>;

template <Api kApi, RecordKind kKind, auto kDescribe>
using Closes = Hook<kApi, kKind, Ticks::kBeforeCall, kDescribe>;

template <typename... Hooks>
struct HookList {
  static constexpr bool has(Api api) { return ((Hooks::kApi == api) || ...); }

  // Whether these are the hooks of `family`: all of them and no others.
  static constexpr bool covers(Family family) {
    for (uint16_t api = 0; api < kApiCount; ++api) {
      if ((kApiFamilies[api] == family) != has(static_cast<Api>(api))) return false;
    }
    return true;
  }

  static void attach(void** wrappers) {
    ((wrappers[static_cast<uint16_t>(Hooks::kApi)] = reinterpret_cast<void*>(&Hooks::call)), ...);
  }
};

}  // namespace vramscope
