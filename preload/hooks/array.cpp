// Arrays. Their memory has no address; the size is that of the texels, a lower bound of what the
// driver takes.
#include "preload/hooks/array_size.h"
#include "preload/hooks/families.h"
#include "preload/hooks/hook.h"

namespace vramscope {
namespace {

constexpr auto kCreate = [](DriverCall& call, CUarray* array, const auto* description) {
  const auto* read = call.input(description);
  if (read != nullptr) call.event.size = array_bytes(*read);
  call.event.device = current_device();
  call.event.handle = call.output(array);
};

constexpr auto kCreateMipmapped = [](DriverCall& call, CUmipmappedArray* array,
                                     const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  const auto* read = call.input(description);
  if (read != nullptr) call.event.size = mipmapped_array_bytes(*read, levels);
  call.event.device = current_device();
  call.event.handle = call.output(array);
};

constexpr auto kDestroy = [](DriverCall& call, auto array) { call.event.handle = bits(array); };

using Hooks =
    HookList<Opens<Api::cuArrayCreate, RecordKind::kArrayCreate, kCreate>,
             Opens<Api::cuArrayCreate_v2, RecordKind::kArrayCreate, kCreate>,
             Opens<Api::cuArray3DCreate, RecordKind::kArrayCreate, kCreate>,
             Opens<Api::cuArray3DCreate_v2, RecordKind::kArrayCreate, kCreate>,
             Closes<Api::cuArrayDestroy, RecordKind::kArrayDestroy, kDestroy>,
             Opens<Api::cuMipmappedArrayCreate, RecordKind::kArrayCreate, kCreateMipmapped>,
             Closes<Api::cuMipmappedArrayDestroy, RecordKind::kArrayDestroy, kDestroy>>;

}  // namespace

void attach_array_hooks(void** wrappers) {
  static_assert(Hooks::covers(Family::kArray));
  Hooks::attach(wrappers);
}

}  // namespace vramscope
