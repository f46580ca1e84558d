// Code and its global variables, which take device memory when they are loaded.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

// Libraries can be loaded without a context: then they have no device yet.
constexpr auto kLoad = [](DriverCall& call, auto* module, auto...) {
  call.event.device = current_device();
  call.event.handle = call.output(module);
};

constexpr auto kUnload = [](DriverCall& call, auto module) {
  call.event.device = current_device();
  call.event.handle = bits(module);
};

using Hooks = HookList<Opens<Api::cuModuleLoad, RecordKind::kModuleLoad, kLoad>,
                       Opens<Api::cuModuleLoadData, RecordKind::kModuleLoad, kLoad>,
                       Opens<Api::cuModuleLoadDataEx, RecordKind::kModuleLoad, kLoad>,
                       Opens<Api::cuModuleLoadFatBinary, RecordKind::kModuleLoad, kLoad>,
                       Closes<Api::cuModuleUnload, RecordKind::kModuleUnload, kUnload>,
                       Opens<Api::cuLibraryLoadData, RecordKind::kModuleLoad, kLoad>,
                       Opens<Api::cuLibraryLoadFromFile, RecordKind::kModuleLoad, kLoad>,
                       Closes<Api::cuLibraryUnload, RecordKind::kModuleUnload, kUnload>>;

}  // namespace

void attach_module_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kModule));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
