// Memory of other interfaces (Vulkan, Direct3D, NvSci): imported, not allocated here.
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kImport = [](DriverCall& call, CUexternalMemory* memory,
                            const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  const auto* read = call.input(description);
  if (read != nullptr) call.event.size = read->size;
  call.event.device = current_device();
  call.event.handle = call.output(memory);
};

constexpr auto kMapBuffer = [](DriverCall& call, CUdeviceptr* address, CUexternalMemory memory,
                               const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  const auto* read = call.input(description);
  if (read != nullptr) call.event.size = read->size;
  call.event.device = current_device();
  call.event.address = call.output(address);
  call.event.handle = bits(memory);
};

// An array has no address: its handle stands for it.
constexpr auto kMapArray = [](DriverCall& call, CUmipmappedArray* array, CUexternalMemory memory,
                              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC*) {
  call.event.device = current_device();
  call.event.address = call.output(array);
  call.event.handle = bits(memory);
};

constexpr auto kDestroy = [](DriverCall& call, CUexternalMemory memory) {
  call.event.handle = bits(memory);
};

using Hooks =
    HookList<Opens<Api::cuImportExternalMemory, RecordKind::kImport, kImport>,
             Opens<Api::cuExternalMemoryGetMappedBuffer, RecordKind::kImport, kMapBuffer>,
             Opens<Api::cuExternalMemoryGetMappedMipmappedArray, RecordKind::kImport, kMapArray>,
             Closes<Api::cuDestroyExternalMemory, RecordKind::kImportClose, kDestroy>>;

}  // namespace

void attach_external_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kExternal));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
