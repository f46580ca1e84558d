// One call of every hooked driver entry point, and the event that must come of it.
//
// Arguments follow from their type and position alone, counted from 1, and so does what the fake
// driver returns through pointers; the events beside them were worked out by hand from cuda.h.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "api.h"
#include "recorder/record.h"

namespace vramscope::rows {

constexpr CUdevice kCurrentDevice = 2;

constexpr uint64_t argument_number(uint64_t position) { return 0x1000 * position; }
constexpr uint64_t output_number(uint64_t position) { return 0x70000000 + 0x100000 * position; }

template <typename T>
concept Complete = requires {
  sizeof(T);
};

// A pointer to something that the caller has made, as opposed to a handle.
template <typename T>
concept Storage = std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>> &&
                  Complete<std::remove_pointer_t<T>>;

constexpr CUmemLocation on_device(int device) { return {CU_MEM_LOCATION_TYPE_DEVICE, {device}}; }

// Structures that drivers read. Each type has a device or a size of its own.
template <typename T>
void fill(T&) {}
inline void fill(CUmemPoolProps& properties) { properties.location = on_device(3); }
inline void fill(CUmemAllocationProp& properties) { properties.location = on_device(4); }
inline void fill(CUmemLocation& location) { location = on_device(5); }
inline void fill(CUmulticastObjectProp& properties) { properties.size = 0x5000; }
inline void fill(CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description) { description.size = 0x6000; }
inline void fill(CUDA_EXTERNAL_MEMORY_BUFFER_DESC& description) { description.size = 0x7000; }
inline void fill(CUDA_MEM_ALLOC_NODE_PARAMS& node) {
  node.poolProps.location = on_device(6);
  node.bytesize = 0x8000;
}
inline void fill(CUgraphNodeParams& node) {
  node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  node.alloc.poolProps.location = on_device(6);
  node.alloc.bytesize = 0x8000;
}
template <typename Description>
requires requires(Description d) { d.NumChannels; }
void fill(Description& description) {
  description.Width = 16;
  description.Height = 8;
  if constexpr (requires { description.Depth; }) description.Depth = 4;
  description.Format = CU_AD_FORMAT_HALF;
  description.NumChannels = 2;
}

template <typename T>
T argument(uint64_t position) {
  if constexpr (Storage<T>) {
    using Pointee = std::remove_const_t<std::remove_pointer_t<T>>;
    static std::array<Pointee, 16> storage;
    Pointee& place = storage[position];
    place = Pointee{};
    fill(place);
    return &place;
  } else if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(argument_number(position));
  } else if constexpr (std::is_enum_v<T> || std::same_as<T, int>) {
    return static_cast<T>(position);
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(argument_number(position));
  } else {
    return T{};
  }
}

template <typename T>
bool is_argument(const T& value, uint64_t position) {
  if constexpr (Storage<T> || std::is_class_v<T>)
    return true;
  else
    return value == argument<T>(position);
}

// What a driver that succeeds leaves behind a pointer that is not const.
template <typename T>
void produce(T where, uint64_t position) {
  if constexpr (Storage<T>) {
    using Pointee = std::remove_pointer_t<T>;
    if (where == nullptr) return;
    if constexpr (std::is_const_v<Pointee>)
      return;
    else if constexpr (std::is_pointer_v<Pointee>)
      *where = reinterpret_cast<Pointee>(output_number(position));
    else if constexpr (std::integral<Pointee>)
      *where = static_cast<Pointee>(output_number(position));
    else if constexpr (std::same_as<Pointee, CUDA_MEM_ALLOC_NODE_PARAMS>)
      where->dptr = output_number(position);
    else if constexpr (std::same_as<Pointee, CUgraphNodeParams>)
      where->alloc.dptr = output_number(position);
  }
}

template <Api kApi>
using EntryPoint = typename Signature<kApi>::type;

enum class Pointers { kValid, kNull };

template <typename... Arguments, size_t... kIndexes>
CUresult call(CUresult (*function)(Arguments...), Pointers pointers,
              std::index_sequence<kIndexes...>) {
  const auto argument_or_null = [pointers]<typename T>(uint64_t position) {
    if constexpr (Storage<T>)
      if (pointers == Pointers::kNull) return T{};
    return argument<T>(position);
  };
  return function(argument_or_null.template operator()<Arguments>(kIndexes + 1)...);
}

template <typename... Arguments>
CUresult call(CUresult (*function)(Arguments...), Pointers pointers) {
  return call(function, pointers, std::index_sequence_for<Arguments...>());
}

// When the event's ticks were taken: see hook.h.
enum class Taken { kAfter, kBefore };

struct ExpectedRow {
  Api api;
  RecordKind kind;
  Taken taken;
  int device;
  uint64_t address;
  uint64_t size;
  uint64_t stream;
  uint64_t handle;
};

inline constexpr auto kExpectedRows = [] {
  using enum Api;
  using enum RecordKind;
  constexpr auto kAfter = Taken::kAfter;
  constexpr auto kBefore = Taken::kBefore;
  constexpr int kNone = kNoDevice;
  constexpr int kHere = kCurrentDevice;
  constexpr auto in = argument_number;
  constexpr auto out = output_number;
  constexpr uint64_t kPitched = out(2) * in(4);
  constexpr uint64_t kFlat = 16 * 8 * 4;
  constexpr uint64_t kSolid = 16 * 8 * 4 * 4;
  constexpr uint64_t kMipmapped = (16 * 8 * 4 + 8 * 4 * 2 + 4 * 2 * 1 + 2 * 1 * 1 + 1) * 4;
  return std::to_array<ExpectedRow>({
      // clang-format off
      // api, kind, ticks, device, address, size, stream, handle
      {cuMemAlloc, kDeviceAlloc, kAfter, kHere, out(1), in(2), 0, 0},
      {cuMemAlloc_v2, kDeviceAlloc, kAfter, kHere, out(1), in(2), 0, 0},
      {cuMemAllocPitch, kDeviceAlloc, kAfter, kHere, out(1), kPitched, 0, 0},
      {cuMemAllocPitch_v2, kDeviceAlloc, kAfter, kHere, out(1), kPitched, 0, 0},
      {cuMemAllocManaged, kManagedAlloc, kAfter, kHere, out(1), in(2), 0, 0},
      {cuMemFree, kDeviceFree, kBefore, kNone, in(1), 0, 0, 0},
      {cuMemFree_v2, kDeviceFree, kBefore, kNone, in(1), 0, 0, 0},

      {cuMemAllocAsync, kAsyncAlloc, kAfter, kHere, out(1), in(2), in(3), 0},
      {cuMemAllocAsync_ptsz, kAsyncAlloc, kAfter, kHere, out(1), in(2), in(3), 0},
      {cuMemAllocFromPoolAsync, kAsyncAlloc, kAfter, kHere, out(1), in(2), in(4), in(3)},
      {cuMemAllocFromPoolAsync_ptsz, kAsyncAlloc, kAfter, kHere, out(1), in(2), in(4), in(3)},
      {cuMemFreeAsync, kAsyncFree, kBefore, kNone, in(1), 0, in(2), 0},
      {cuMemFreeAsync_ptsz, kAsyncFree, kBefore, kNone, in(1), 0, in(2), 0},

      {cuMemPoolCreate, kPoolCreate, kAfter, 3, 0, 0, 0, out(1)},
      {cuMemPoolDestroy, kPoolDestroy, kBefore, kNone, 0, 0, 0, in(1)},
      {cuMemPoolTrimTo, kPoolControl, kBefore, kNone, 0, in(2), 0, in(1)},
      {cuMemPoolSetAttribute, kPoolControl, kAfter, kNone, 0, 0, 0, in(1)},
      {cuMemPoolExportToShareableHandle, kShare, kAfter, kNone, 0, 0, 0, in(2)},
      {cuMemPoolImportFromShareableHandle, kImport, kAfter, kNone, 0, 0, 0, out(1)},
      {cuMemPoolExportPointer, kShare, kAfter, kNone, in(2), 0, 0, 0},
      {cuMemPoolImportPointer, kImport, kAfter, kNone, out(1), 0, 0, in(2)},
      {cuDeviceGetDefaultMemPool, kPoolControl, kAfter, 2, 0, 0, 0, out(1)},
      {cuDeviceGetMemPool, kPoolControl, kAfter, 2, 0, 0, 0, out(1)},
      {cuDeviceSetMemPool, kPoolControl, kAfter, 1, 0, 0, 0, in(2)},
      {cuMemGetDefaultMemPool, kPoolControl, kAfter, 5, 0, 0, 0, out(1)},
      {cuMemGetMemPool, kPoolControl, kAfter, 5, 0, 0, 0, out(1)},
      {cuMemSetMemPool, kPoolControl, kAfter, 5, 0, 0, 0, in(3)},

      {cuMemCreate, kPhysicalCreate, kAfter, 4, 0, in(2), 0, out(1)},
      {cuMemRelease, kPhysicalRelease, kBefore, kNone, 0, 0, 0, in(1)},
      {cuMemMap, kMap, kAfter, kNone, in(1), in(2), 0, in(4)},
      {cuMemUnmap, kUnmap, kBefore, kNone, in(1), in(2), 0, 0},
      {cuMemAddressReserve, kAddressReserve, kAfter, kNone, out(1), in(2), 0, 0},
      {cuMemAddressFree, kAddressFree, kBefore, kNone, in(1), in(2), 0, 0},
      {cuMemSetAccess, kSetAccess, kAfter, kNone, in(1), in(2), 0, 0},
      {cuMemRetainAllocationHandle, kPhysicalRetain, kAfter, kNone, in(2), 0, 0, out(1)},
      {cuMemImportFromShareableHandle, kImport, kAfter, kNone, 0, 0, 0, out(1)},
      {cuMemExportToShareableHandle, kShare, kAfter, kNone, 0, 0, 0, in(2)},
      {cuMemMapArrayAsync, kMap, kAfter, kNone, 0, 0, in(3), 0},
      {cuMemMapArrayAsync_ptsz, kMap, kAfter, kNone, 0, 0, in(3), 0},

      {cuMulticastCreate, kMulticast, kAfter, kNone, 0, 0x5000, 0, out(1)},
      {cuMulticastAddDevice, kMulticast, kAfter, 2, 0, 0, 0, in(1)},
      {cuMulticastBindMem, kMulticast, kAfter, kNone, 0, in(5), 0, in(1)},
      {cuMulticastBindMem_v2, kMulticast, kAfter, 2, 0, in(6), 0, in(1)},
      {cuMulticastBindAddr, kMulticast, kAfter, kNone, in(3), in(4), 0, in(1)},
      {cuMulticastBindAddr_v2, kMulticast, kAfter, 2, in(4), in(5), 0, in(1)},
      {cuMulticastUnbind, kMulticast, kBefore, 2, 0, in(4), 0, in(1)},

      {cuMemHostAlloc, kHostAlloc, kAfter, kNone, out(1), in(2), 0, 0},
      {cuMemAllocHost, kHostAlloc, kAfter, kNone, out(1), in(2), 0, 0},
      {cuMemAllocHost_v2, kHostAlloc, kAfter, kNone, out(1), in(2), 0, 0},
      {cuMemFreeHost, kHostFree, kBefore, kNone, in(1), 0, 0, 0},
      {cuMemHostRegister, kHostRegister, kAfter, kNone, in(1), in(2), 0, 0},
      {cuMemHostRegister_v2, kHostRegister, kAfter, kNone, in(1), in(2), 0, 0},
      {cuMemHostUnregister, kHostUnregister, kBefore, kNone, in(1), 0, 0, 0},

      {cuArrayCreate, kArrayCreate, kAfter, kHere, 0, kFlat, 0, out(1)},
      {cuArrayCreate_v2, kArrayCreate, kAfter, kHere, 0, kFlat, 0, out(1)},
      {cuArray3DCreate, kArrayCreate, kAfter, kHere, 0, kSolid, 0, out(1)},
      {cuArray3DCreate_v2, kArrayCreate, kAfter, kHere, 0, kSolid, 0, out(1)},
      {cuArrayDestroy, kArrayDestroy, kBefore, kNone, 0, 0, 0, in(1)},
      {cuMipmappedArrayCreate, kArrayCreate, kAfter, kHere, 0, kMipmapped, 0, out(1)},
      {cuMipmappedArrayDestroy, kArrayDestroy, kBefore, kNone, 0, 0, 0, in(1)},

      {cuIpcGetMemHandle, kShare, kAfter, kNone, in(2), 0, 0, 0},
      {cuIpcOpenMemHandle, kImport, kAfter, kHere, out(1), 0, 0, 0},
      {cuIpcOpenMemHandle_v2, kImport, kAfter, kHere, out(1), 0, 0, 0},
      {cuIpcCloseMemHandle, kImportClose, kBefore, kNone, in(1), 0, 0, 0},

      {cuImportExternalMemory, kImport, kAfter, kHere, 0, 0x6000, 0, out(1)},
      {cuExternalMemoryGetMappedBuffer, kImport, kAfter, kHere, out(1), 0x7000, 0, in(2)},
      {cuExternalMemoryGetMappedMipmappedArray, kImport, kAfter, kHere, out(1), 0, 0, in(2)},
      {cuDestroyExternalMemory, kImportClose, kBefore, kNone, 0, 0, 0, in(1)},

      {cuCtxCreate, kContextCreate, kAfter, 3, 0, 0, 0, out(1)},
      {cuCtxCreate_v2, kContextCreate, kAfter, 3, 0, 0, 0, out(1)},
      {cuCtxCreate_v3, kContextCreate, kAfter, 5, 0, 0, 0, out(1)},
      {cuCtxCreate_v4, kContextCreate, kAfter, 4, 0, 0, 0, out(1)},
      {cuCtxDestroy, kContextDestroy, kBefore, kNone, 0, 0, 0, in(1)},
      {cuCtxDestroy_v2, kContextDestroy, kBefore, kNone, 0, 0, 0, in(1)},
      {cuDevicePrimaryCtxRetain, kContextCreate, kAfter, 2, 0, 0, 0, out(1)},
      // Of device 1, which nobody has retained: its context is not known.
      {cuDevicePrimaryCtxRelease, kContextDestroy, kBefore, 1, 0, 0, 0, 0},
      {cuDevicePrimaryCtxRelease_v2, kContextDestroy, kBefore, 1, 0, 0, 0, 0},
      {cuDevicePrimaryCtxReset, kContextDestroy, kBefore, 1, 0, 0, 0, 0},
      {cuDevicePrimaryCtxReset_v2, kContextDestroy, kBefore, 1, 0, 0, 0, 0},
      {cuGreenCtxCreate, kContextCreate, kAfter, 3, 0, 0, 0, out(1)},
      {cuGreenCtxDestroy, kContextDestroy, kBefore, kNone, 0, 0, 0, in(1)},

      {cuModuleLoad, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuModuleLoadData, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuModuleLoadDataEx, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuModuleLoadFatBinary, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuModuleUnload, kModuleUnload, kBefore, kHere, 0, 0, 0, in(1)},
      {cuLibraryLoadData, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuLibraryLoadFromFile, kModuleLoad, kAfter, kHere, 0, 0, 0, out(1)},
      {cuLibraryUnload, kModuleUnload, kBefore, kHere, 0, 0, 0, in(1)},

      {cuGraphAddMemAllocNode, kGraphMemory, kAfter, 6, out(5), 0x8000, 0, in(2)},
      {cuGraphAddMemFreeNode, kGraphMemory, kAfter, kNone, in(5), 0, 0, in(2)},
      {cuGraphAddNode, kGraphMemory, kAfter, 6, out(5), 0x8000, 0, in(2)},
      {cuGraphAddNode_v2, kGraphMemory, kAfter, 6, out(6), 0x8000, 0, in(2)},
      {cuDeviceGraphMemTrim, kGraphMemory, kBefore, 1, 0, 0, 0, 0},
      // clang-format on
  });
}();

constexpr bool is_pytorch_row(uint16_t api) {
  return kApiFamilies[api] == Family::kPytorch || kApiFamilies[api] == Family::kPytorchScopes;
}
constexpr bool is_driver_row(uint16_t api) {
  return kApiFamilies[api] != Family::kResolver && !is_pytorch_row(api);
}

constexpr bool every_driver_row_is_expected() {
  size_t next = 0;
  for (uint16_t api = 0; api < kApiCount; ++api) {
    if (!is_driver_row(api)) continue;
    if (next == kExpectedRows.size() || kExpectedRows[next++].api != static_cast<Api>(api))
      return false;
  }
  return next == kExpectedRows.size();
}
static_assert(every_driver_row_is_expected(),
              "a row of hook_table.txt, in its order, has no line in kExpectedRows");

// The same call refused for want of memory: arguments stay, the driver returned nothing.
constexpr ExpectedRow refused(ExpectedRow row) {
  const auto drop_output = [](uint64_t& value) {
    if (value >= output_number(0)) value = 0;
  };
  if (row.api == Api::cuMemAllocPitch || row.api == Api::cuMemAllocPitch_v2)
    row.size = argument_number(3) * argument_number(4);  // the pitch is not known: the width
  drop_output(row.address);
  drop_output(row.handle);
  return row;
}

// visit.operator()<kApi>(expected) for every driver row, in order.
template <typename Visit>
void for_each_row(Visit visit) {
  [&]<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
    (visit.template operator()<kExpectedRows[kIndexes].api>(kExpectedRows[kIndexes]), ...);
  }
  (std::make_index_sequence<kExpectedRows.size()>());
}

}  // namespace vramscope::rows
