// Linear and managed memory.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kAlloc = [](DriverCall& call, auto* address, auto bytes) {
  call.event.device = current_device();
  call.event.address = call.output(address);
  call.event.size = bytes;
};

constexpr auto kAllocPitch = [](DriverCall& call, auto* address, auto* pitch, auto width_bytes,
                                auto height, unsigned) {
  call.event.device = current_device();
  call.event.address = call.output(address);
  const uint64_t row_bytes = call.succeeded() ? call.output(pitch) : width_bytes;
  call.event.size = row_bytes * height;
};

constexpr auto kAllocManaged = [](DriverCall& call, CUdeviceptr* address, size_t bytes, unsigned) {
  kAlloc(call, address, bytes);
};

constexpr auto kFree = [](DriverCall& call, auto address) { call.event.address = address; };

using Hooks = HookList<Opens<Api::cuMemAlloc, RecordKind::kDeviceAlloc, kAlloc>,
                       Opens<Api::cuMemAlloc_v2, RecordKind::kDeviceAlloc, kAlloc>,
                       Opens<Api::cuMemAllocPitch, RecordKind::kDeviceAlloc, kAllocPitch>,
                       Opens<Api::cuMemAllocPitch_v2, RecordKind::kDeviceAlloc, kAllocPitch>,
                       Opens<Api::cuMemAllocManaged, RecordKind::kManagedAlloc, kAllocManaged>,
                       Closes<Api::cuMemFree, RecordKind::kDeviceFree, kFree>,
                       Closes<Api::cuMemFree_v2, RecordKind::kDeviceFree, kFree>>;

}  // namespace

void attach_linear_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kLinear));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
