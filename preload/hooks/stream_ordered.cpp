// Stream-ordered memory. The stream is recorded as passed: 0 in a _ptsz variant is the thread's
// own.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"
#include "preload/hooks/pool_devices.h"

namespace vramscope {
namespace {

constexpr auto kAlloc = [](DriverCall& call, CUdeviceptr* address, size_t bytes, CUstream stream) {
  call.event.device = call.succeeded() ? device_of(stream) : current_device();
  call.event.address = call.output(address);
  call.event.size = bytes;
  call.event.stream = bits(stream);
};

constexpr auto kAllocFromPool = [](DriverCall& call, CUdeviceptr* address, size_t bytes,
                                   CUmemoryPool pool, CUstream stream) {
  kAlloc(call, address, bytes, stream);
  call.event.handle = bits(pool);
  call.event.device = device_of_pool(bits(pool), call.event.device);
};

constexpr auto kFree = [](DriverCall& call, CUdeviceptr address, CUstream stream) {
  call.event.address = address;
  call.event.stream = bits(stream);
};

using Hooks =
    HookList<Opens<Api::cuMemAllocAsync, RecordKind::kAsyncAlloc, kAlloc>,
             Opens<Api::cuMemAllocAsync_ptsz, RecordKind::kAsyncAlloc, kAlloc>,
             Opens<Api::cuMemAllocFromPoolAsync, RecordKind::kAsyncAlloc, kAllocFromPool>,
             Opens<Api::cuMemAllocFromPoolAsync_ptsz, RecordKind::kAsyncAlloc, kAllocFromPool>,
             Closes<Api::cuMemFreeAsync, RecordKind::kAsyncFree, kFree>,
             Closes<Api::cuMemFreeAsync_ptsz, RecordKind::kAsyncFree, kFree>>;

}  // namespace

void attach_stream_ordered_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kStreamOrdered));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
