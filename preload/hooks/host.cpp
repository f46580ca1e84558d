// Pinned host memory: allocated, or registered with the driver.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kAlloc = [](DriverCall& call, void** address, auto bytes, auto...) {
  call.event.address = call.output(address);
  call.event.size = bytes;
};

constexpr auto kRegister = [](DriverCall& call, void* address, size_t bytes, unsigned) {
  call.event.address = bits(address);
  call.event.size = bytes;
};

constexpr auto kAddress = [](DriverCall& call, void* address) {
  call.event.address = bits(address);
};

using Hooks = HookList<Opens<Api::cuMemHostAlloc, RecordKind::kHostAlloc, kAlloc>,
                       Opens<Api::cuMemAllocHost, RecordKind::kHostAlloc, kAlloc>,
                       Opens<Api::cuMemAllocHost_v2, RecordKind::kHostAlloc, kAlloc>,
                       Closes<Api::cuMemFreeHost, RecordKind::kHostFree, kAddress>,
                       Opens<Api::cuMemHostRegister, RecordKind::kHostRegister, kRegister>,
                       Opens<Api::cuMemHostRegister_v2, RecordKind::kHostRegister, kRegister>,
                       Closes<Api::cuMemHostUnregister, RecordKind::kHostUnregister, kAddress>>;

}  // namespace

void attach_host_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kHost));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
