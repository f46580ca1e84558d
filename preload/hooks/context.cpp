// Contexts, which cost device memory by themselves.
#include <atomic>

#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

// Primary contexts by device, as retained: their release names only the device.
constexpr int kMaxDevices = 128;
std::atomic<uint64_t> primary_contexts[kMaxDevices];

bool is_ordinal(CUdevice device) { return device >= 0 && device < kMaxDevices; }

void describe_creation(DriverCall& call, CUcontext* context, CUdevice device) {
  call.event.device = static_cast<int8_t>(device);
  call.event.handle = call.output(context);
  if (call.succeeded()) call.event.extra = total_bytes_of(call.event.device);
}

constexpr auto kCreate = [](DriverCall& call, CUcontext* context, unsigned, CUdevice device) {
  describe_creation(call, context, device);
};

constexpr auto kCreateWithAffinity = [](DriverCall& call, CUcontext* context, CUexecAffinityParam*,
                                        int, unsigned, CUdevice device) {
  describe_creation(call, context, device);
};

constexpr auto kCreateWithParameters = [](DriverCall& call, CUcontext* context, CUctxCreateParams*,
                                          unsigned, CUdevice device) {
  describe_creation(call, context, device);
};

constexpr auto kDestroy = [](DriverCall& call, CUcontext context) {
  call.event.handle = bits(context);
};

constexpr auto kRetainPrimary = [](DriverCall& call, CUcontext* context, CUdevice device) {
  describe_creation(call, context, device);
  if (call.event.handle != 0 && is_ordinal(device)) {
    primary_contexts[device].store(call.event.handle, std::memory_order_relaxed);
  }
};

constexpr auto kReleasePrimary = [](DriverCall& call, CUdevice device) {
  call.event.device = static_cast<int8_t>(device);
  if (is_ordinal(device)) {
    call.event.handle = primary_contexts[device].load(std::memory_order_relaxed);
  }
};

constexpr auto kCreateGreen = [](DriverCall& call, CUgreenCtx* context, CUdevResourceDesc,
                                 CUdevice device, unsigned) {
  call.event.device = static_cast<int8_t>(device);
  call.event.handle = call.output(context);
};

constexpr auto kDestroyGreen = [](DriverCall& call, CUgreenCtx context) {
  call.event.handle = bits(context);
};

using Hooks = HookList<
    Opens<Api::cuCtxCreate, RecordKind::kContextCreate, kCreate>,
    Opens<Api::cuCtxCreate_v2, RecordKind::kContextCreate, kCreate>,
    Opens<Api::cuCtxCreate_v3, RecordKind::kContextCreate, kCreateWithAffinity>,
    Opens<Api::cuCtxCreate_v4, RecordKind::kContextCreate, kCreateWithParameters>,
    Closes<Api::cuCtxDestroy, RecordKind::kContextDestroy, kDestroy>,
    Closes<Api::cuCtxDestroy_v2, RecordKind::kContextDestroy, kDestroy>,
    Opens<Api::cuDevicePrimaryCtxRetain, RecordKind::kContextCreate, kRetainPrimary>,
    Closes<Api::cuDevicePrimaryCtxRelease, RecordKind::kContextDestroy, kReleasePrimary>,
    Closes<Api::cuDevicePrimaryCtxRelease_v2, RecordKind::kContextDestroy, kReleasePrimary>,
    Closes<Api::cuDevicePrimaryCtxReset, RecordKind::kContextDestroy, kReleasePrimary>,
    Closes<Api::cuDevicePrimaryCtxReset_v2, RecordKind::kContextDestroy, kReleasePrimary>,
    Opens<Api::cuGreenCtxCreate, RecordKind::kContextCreate, kCreateGreen>,
    Closes<Api::cuGreenCtxDestroy, RecordKind::kContextDestroy, kDestroyGreen>>;

}  // namespace

void attach_context_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kContext));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
