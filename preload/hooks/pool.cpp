// Memory pools of stream-ordered memory.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kCreate = [](DriverCall& call, CUmemoryPool* pool,
                            const CUmemPoolProps* properties) {
  const auto* read = call.input(properties);
  if (read != nullptr) call.event.device = device_of(read->location);
  call.event.handle = call.output(pool);
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
  call.event.device = static_cast<int8_t>(device);
  call.event.handle = call.output(pool);
};

constexpr auto kSetOfDevice = [](DriverCall& call, CUdevice device, CUmemoryPool pool) {
  call.event.device = static_cast<int8_t>(device);
  call.event.handle = bits(pool);
};

constexpr auto kGetOfLocation = [](DriverCall& call, CUmemoryPool* pool, CUmemLocation* location,
                                   CUmemAllocationType) {
  const auto* read = call.input(location);
  if (read != nullptr) call.event.device = device_of(*read);
  call.event.handle = call.output(pool);
};

constexpr auto kSetOfLocation = [](DriverCall& call, CUmemLocation* location, CUmemAllocationType,
                                   CUmemoryPool pool) {
  const auto* read = call.input(location);
  if (read != nullptr) call.event.device = device_of(*read);
  call.event.handle = bits(pool);
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
