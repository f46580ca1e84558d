// Multicast objects: memory of several devices behind one address.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kCreate = [](DriverCall& call, CUmemGenericAllocationHandle* multicast,
                            const CUmulticastObjectProp* properties) {
  const auto* read = call.input(properties);
  if (read != nullptr) call.event.size = read->size;
  call.event.handle = call.output(multicast);
};

constexpr auto kAddDevice = [](DriverCall& call, CUmemGenericAllocationHandle multicast,
                               CUdevice device) {
  call.event.device = static_cast<int8_t>(device);
  call.event.handle = multicast;
};

constexpr auto kBindMemory = [](DriverCall& call, CUmemGenericAllocationHandle multicast, size_t,
                                CUmemGenericAllocationHandle, size_t, size_t bytes,
                                unsigned long long) {
  call.event.handle = multicast;
  call.event.size = bytes;
};

constexpr auto kBindMemoryOfDevice = [](DriverCall& call, CUmemGenericAllocationHandle multicast,
                                        CUdevice device, size_t, CUmemGenericAllocationHandle,
                                        size_t, size_t bytes, unsigned long long) {
  kAddDevice(call, multicast, device);
  call.event.size = bytes;
};

constexpr auto kBindAddress = [](DriverCall& call, CUmemGenericAllocationHandle multicast, size_t,
                                 CUdeviceptr address, size_t bytes, unsigned long long) {
  call.event.handle = multicast;
  call.event.address = address;
  call.event.size = bytes;
};

constexpr auto kBindAddressOfDevice = [](DriverCall& call, CUmemGenericAllocationHandle multicast,
                                         CUdevice device, size_t, CUdeviceptr address, size_t bytes,
                                         unsigned long long) {
  kAddDevice(call, multicast, device);
  call.event.address = address;
  call.event.size = bytes;
};

constexpr auto kUnbind = [](DriverCall& call, CUmemGenericAllocationHandle multicast,
                            CUdevice device, size_t, size_t bytes) {
  kAddDevice(call, multicast, device);
  call.event.size = bytes;
};

using Hooks =
    HookList<Opens<Api::cuMulticastCreate, RecordKind::kMulticast, kCreate>,
             Opens<Api::cuMulticastAddDevice, RecordKind::kMulticast, kAddDevice>,
             Opens<Api::cuMulticastBindMem, RecordKind::kMulticast, kBindMemory>,
             Opens<Api::cuMulticastBindMem_v2, RecordKind::kMulticast, kBindMemoryOfDevice>,
             Opens<Api::cuMulticastBindAddr, RecordKind::kMulticast, kBindAddress>,
             Opens<Api::cuMulticastBindAddr_v2, RecordKind::kMulticast, kBindAddressOfDevice>,
             Closes<Api::cuMulticastUnbind, RecordKind::kMulticast, kUnbind>>;

}  // namespace

void attach_multicast_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kMulticast));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
