// Virtual memory management: addresses, physical memory, and the mapping between them.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kCreate = [](DriverCall& call, CUmemGenericAllocationHandle* handle, size_t bytes,
                            const CUmemAllocationProp* properties, unsigned long long) {
  const auto* read = call.input(properties);
  if (read != nullptr) call.event.device = device_of(read->location);
  call.event.handle = call.output(handle);
  call.event.size = bytes;
};

constexpr auto kRelease = [](DriverCall& call, CUmemGenericAllocationHandle handle) {
  call.event.handle = handle;
};

constexpr auto kMapMemory = [](DriverCall& call, CUdeviceptr address, size_t bytes, size_t,
                               CUmemGenericAllocationHandle handle, unsigned long long) {
  call.event.address = address;
  call.event.size = bytes;
  call.event.handle = handle;
};

// A range of addresses, whatever follows it.
constexpr auto kRange = [](DriverCall& call, CUdeviceptr address, size_t bytes, auto...) {
  call.event.address = address;
  call.event.size = bytes;
};

constexpr auto kReserve = [](DriverCall& call, CUdeviceptr* address, size_t bytes, size_t,
                             CUdeviceptr, unsigned long long) {
  call.event.address = call.output(address);
  call.event.size = bytes;
};

constexpr auto kRetain = [](DriverCall& call, CUmemGenericAllocationHandle* handle, void* address) {
  call.event.handle = call.output(handle);
  call.event.address = bits(address);
};

constexpr auto kImport = [](DriverCall& call, CUmemGenericAllocationHandle* handle, void*,
                            CUmemAllocationHandleType) { call.event.handle = call.output(handle); };

constexpr auto kExport = [](DriverCall& call, void*, CUmemGenericAllocationHandle handle,
                            CUmemAllocationHandleType,
                            unsigned long long) { call.event.handle = handle; };

// Maps or unmaps tiles of sparse arrays: the physical memory stays counted where it was created.
constexpr auto kMapArray = [](DriverCall& call, CUarrayMapInfo*, unsigned, CUstream stream) {
  call.event.stream = bits(stream);
};

using Hooks =
    HookList<Opens<Api::cuMemCreate, RecordKind::kPhysicalCreate, kCreate>,
             Closes<Api::cuMemRelease, RecordKind::kPhysicalRelease, kRelease>,
             Opens<Api::cuMemMap, RecordKind::kMap, kMapMemory>,
             Closes<Api::cuMemUnmap, RecordKind::kUnmap, kRange>,
             Opens<Api::cuMemAddressReserve, RecordKind::kAddressReserve, kReserve>,
             Closes<Api::cuMemAddressFree, RecordKind::kAddressFree, kRange>,
             Opens<Api::cuMemSetAccess, RecordKind::kSetAccess, kRange>,
             Opens<Api::cuMemRetainAllocationHandle, RecordKind::kPhysicalRetain, kRetain>,
             Opens<Api::cuMemImportFromShareableHandle, RecordKind::kImport, kImport>,
             Opens<Api::cuMemExportToShareableHandle, RecordKind::kShare, kExport>,
             Opens<Api::cuMemMapArrayAsync, RecordKind::kMap, kMapArray>,
             Opens<Api::cuMemMapArrayAsync_ptsz, RecordKind::kMap, kMapArray>>;

}  // namespace

void attach_vmm_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kVmm));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
