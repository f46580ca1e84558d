// Memory pools of stream-ordered memory.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/pool_devices.h"

namespace vramscope {
namespace {

// The call tells to which device a pool belongs.
void describe(DriverCall& call, int8_t device, uint64_t pool) {
  call.event.device = device;
  call.event.handle = pool;
  if (call.succeeded()) remember_pool(pool, device);
}

int8_t device_or_none(const CUmemLocation* location) {
  return location != nullptr ? device_of(*location) : kNoDevice;
}

constexpr auto kCreate = [](DriverCall& call, CUmemoryPool* pool,
                            const CUmemPoolProps* properties) {
  const auto* read = call.input(properties);
  describe(call, device_or_none(read != nullptr ? &read->location : nullptr), call.output(pool));
};

// Whatever is done to a pool and returns nothing that is recorded.
constexpr auto kPool = [](DriverCall& call, CUmemoryPool pool, auto...) {
  call.event.handle = bits(pool);
};

constexpr auto kTrim = [](DriverCall& call, CUmemoryPool pool, size_t bytes_to_keep) {
  call.event.handle = bits(pool);
  call.event.size = bytes_to_keep;
};

constexpr auto kExport = [](DriverCall& call, void*, CUmemoryPool pool, CUmemAllocationHandleType,
                            unsigned long long) { call.event.handle = bits(pool); };

constexpr auto kImport = [](DriverCall& call, CUmemoryPool* pool, void*, CUmemAllocationHandleType,
                            unsigned long long) { call.event.handle = call.output(pool); };

constexpr auto kExportPointer = [](DriverCall& call, CUmemPoolPtrExportData*, CUdeviceptr address) {
  call.event.address = address;
};

constexpr auto kImportPointer = [](DriverCall& call, CUdeviceptr* address, CUmemoryPool pool,
                                   CUmemPoolPtrExportData*) {
  call.event.address = call.output(address);
  call.event.handle = bits(pool);
};

constexpr auto kGetOfDevice = [](DriverCall& call, CUmemoryPool* pool, CUdevice device) {
  describe(call, static_cast<int8_t>(device), call.output(pool));
};

constexpr auto kSetOfDevice = [](DriverCall& call, CUdevice device, CUmemoryPool pool) {
  describe(call, static_cast<int8_t>(device), bits(pool));
};

constexpr auto kGetOfLocation = [](DriverCall& call, CUmemoryPool* pool, CUmemLocation* location,
                                   CUmemAllocationType) {
  describe(call, device_or_none(call.input(location)), call.output(pool));
};

constexpr auto kSetOfLocation = [](DriverCall& call, CUmemLocation* location, CUmemAllocationType,
                                   CUmemoryPool pool) {
  describe(call, device_or_none(call.input(location)), bits(pool));
};

using Hooks =
    HookList<Opens<Api::cuMemPoolCreate, RecordKind::kPoolCreate, kCreate>,
             Closes<Api::cuMemPoolDestroy, RecordKind::kPoolDestroy, kPool>,
             Closes<Api::cuMemPoolTrimTo, RecordKind::kPoolControl, kTrim>,
             Opens<Api::cuMemPoolSetAttribute, RecordKind::kPoolControl, kPool>,
             Opens<Api::cuMemPoolExportToShareableHandle, RecordKind::kShare, kExport>,
             Opens<Api::cuMemPoolImportFromShareableHandle, RecordKind::kImport, kImport>,
             Opens<Api::cuMemPoolExportPointer, RecordKind::kShare, kExportPointer>,
             Opens<Api::cuMemPoolImportPointer, RecordKind::kImport, kImportPointer>,
             Opens<Api::cuDeviceGetDefaultMemPool, RecordKind::kPoolControl, kGetOfDevice>,
             Opens<Api::cuDeviceGetMemPool, RecordKind::kPoolControl, kGetOfDevice>,
             Opens<Api::cuDeviceSetMemPool, RecordKind::kPoolControl, kSetOfDevice>,
             Opens<Api::cuMemGetDefaultMemPool, RecordKind::kPoolControl, kGetOfLocation>,
             Opens<Api::cuMemGetMemPool, RecordKind::kPoolControl, kGetOfLocation>,
             Opens<Api::cuMemSetMemPool, RecordKind::kPoolControl, kSetOfLocation>>;

}  // namespace

void attach_pool_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kPool));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
