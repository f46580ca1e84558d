// Arrays and mipmapped arrays: they take capacity, and copies to and from them move nothing.
#include <algorithm>

#include "tools/simgpu/core/units.h"
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr uint64_t kArrayAlignment = 64 * kKiB;
constexpr uint64_t kLargestExtent = 1ull << 20;  // of any array of any device

// Bytes of one channel; 0 for formats that the model does not know (block-compressed, planar).
uint64_t format_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

Array described(const CUDA_ARRAY3D_DESCRIPTOR& description, int device) {
  return Array{device,
               0,
               description.Width,
               description.Height,
               description.Depth,
               static_cast<int>(description.Format),
               description.NumChannels,
               description.Flags,
               {}};
}

// Bytes of the elements, tightly packed: what the log shows.
uint64_t payload_bytes(const Array& array) {
  return format_bytes(static_cast<CUarray_format>(array.format)) * array.channels * array.width *
         std::max<uint64_t>(array.height, 1) * std::max<uint64_t>(array.depth, 1);
}

bool is_valid(const CUDA_ARRAY3D_DESCRIPTOR& description) {
  const bool channels_ok =
      description.NumChannels == 1 || description.NumChannels == 2 || description.NumChannels == 4;
  const auto extent_ok = [](uint64_t extent) { return extent <= kLargestExtent; };
  return description.Width > 0 && channels_ok && format_bytes(description.Format) > 0 &&
         extent_ok(description.Width) && extent_ok(description.Height) &&
         extent_ok(description.Depth);
}

// What the arrays on one level and below take together.
Array* create(Driver& state, const Array& description, uint64_t bytes) {
  if (!state.memory.take(description.device, round_up(bytes, kArrayAlignment))) return nullptr;
  Array* array = state.arrays.create(description);
  array->bytes = round_up(bytes, kArrayAlignment);
  return array;
}

CUresult create_array(const char* api, CUarray* handle,
                      const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return memory_call({.api = api}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    call.device = context->device;
    if (!handle || !description || !is_valid(*description)) return CUDA_ERROR_INVALID_VALUE;
    const Array wanted = described(*description, context->device);
    call.size = payload_bytes(wanted);
    Array* array = create(state, wanted, call.size);
    if (!array) return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = handle_of<CUarray>(array);
    call.handle = number_of(array);
    return CUDA_SUCCESS;
  });
}

CUresult destroy_array(const char* api, uint64_t handle) {
  return memory_call({.api = api, .handle = handle}, [&](Driver& state, MemoryCall&) {
    const void* key = reinterpret_cast<const void*>(handle);
    const Array* array = state.arrays.find(key);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    synchronize_device(state, array->device);
    state.memory.give_back(array->device, array->bytes);
    for (const Array* level : array->levels) state.arrays.remove(level);
    state.arrays.remove(key);
    return CUDA_SUCCESS;
  });
}

CUDA_ARRAY3D_DESCRIPTOR description_of(const Array& array) {
  CUDA_ARRAY3D_DESCRIPTOR description = {};
  description.Width = array.width;
  description.Height = array.height;
  description.Depth = array.depth;
  description.Format = static_cast<CUarray_format>(array.format);
  description.NumChannels = array.channels;
  description.Flags = array.flags;
  return description;
}

CUDA_ARRAY3D_DESCRIPTOR widened(const CUDA_ARRAY_DESCRIPTOR& flat) {
  CUDA_ARRAY3D_DESCRIPTOR description = {};
  description.Width = flat.Width;
  description.Height = flat.Height;
  description.Format = flat.Format;
  description.NumChannels = flat.NumChannels;
  return description;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (!description) return create_array("cuArrayCreate", handle, nullptr);
  const CUDA_ARRAY3D_DESCRIPTOR wide = widened(*description);
  return create_array("cuArrayCreate", handle, &wide);
}

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return create_array("cuArray3DCreate", handle, description);
}

CUresult cuArrayDestroy(CUarray handle) {
  return destroy_array("cuArrayDestroy", number_of(handle));
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray handle) {
  if (!description) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Array* array = state.arrays.find(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    *description = description_of(*array);
    return CUDA_SUCCESS;
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray handle) {
  if (!description) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR wide;
  if (const CUresult result = cuArray3DGetDescriptor_v2(&wide, handle)) return result;
  *description = {wide.Width, wide.Height, wide.Format, wide.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle,
                                const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned level_count) {
  return memory_call({.api = "cuMipmappedArrayCreate"}, [&](Driver& state, MemoryCall& call) {
    Context* context = nullptr;
    if (const CUresult result = context_for_unsafe_call(state, &context)) return result;
    call.device = context->device;
    if (!handle || !description || !is_valid(*description) || level_count == 0 ||
        level_count > 32) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::vector<Array> levels = {described(*description, context->device)};
    while (levels.size() < level_count) {
      Array half = levels.back();
      half.width = std::max<uint64_t>(half.width / 2, 1);
      half.height = half.height > 1 ? half.height / 2 : half.height;
      half.depth = half.depth > 1 ? half.depth / 2 : half.depth;
      levels.push_back(half);
    }
    for (const Array& level : levels) call.size += payload_bytes(level);
    Array* array = create(state, levels.front(), call.size);
    if (!array) return CUDA_ERROR_OUT_OF_MEMORY;
    for (const Array& level : levels) array->levels.push_back(state.arrays.create(level));
    *handle = handle_of<CUmipmappedArray>(array);
    call.handle = number_of(array);
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level_handle, CUmipmappedArray handle, unsigned level) {
  if (!level_handle) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Array* array = state.arrays.find(handle);
    if (!array) return CUDA_ERROR_INVALID_HANDLE;
    if (level >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *level_handle = handle_of<CUarray>(array->levels[level]);
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return destroy_array("cuMipmappedArrayDestroy", number_of(handle));
}
