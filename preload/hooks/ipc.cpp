// Linear memory that another process opens.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kGetHandle = [](DriverCall& call, CUipcMemHandle*, CUdeviceptr address) {
  call.event.address = address;
};

constexpr auto kOpen = [](DriverCall& call, CUdeviceptr* address, CUipcMemHandle, unsigned) {
  call.event.device = current_device();
  call.event.address = call.output(address);
};

constexpr auto kClose = [](DriverCall& call, CUdeviceptr address) { call.event.address = address; };

using Hooks = HookList<Opens<Api::cuIpcGetMemHandle, RecordKind::kShare, kGetHandle>,
                       Opens<Api::cuIpcOpenMemHandle, RecordKind::kImport, kOpen>,
                       Opens<Api::cuIpcOpenMemHandle_v2, RecordKind::kImport, kOpen>,
                       Closes<Api::cuIpcCloseMemHandle, RecordKind::kImportClose, kClose>>;

}  // namespace

void attach_ipc_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kIpc));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
