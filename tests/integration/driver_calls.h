// One sequence of driver calls of every hooked family that the simulated GPU serves, made through
// whatever route a program finds the driver by. Prints each call's result and nothing that differs
// from run to run.
//
// A route is a type with
//   template <auto* kFunction> auto* find(const char* symbol);
// where `symbol` is the exported name of kFunction, which cuda.h may know under another one.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace driver_calls {

constexpr size_t kMiB = 1 << 20;

inline CUresult print(const char* call, CUresult result) {
  std::printf("%s %d\n", call, result);
  return result;
}

// The exported name of a stream-ordered call in this translation unit.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define STREAM_ORDERED(name) #name "_ptsz"
#else
#define STREAM_ORDERED(name) #name
#endif

template <typename Route>
void linear(Route& route) {
  auto* alloc = route.template find<&cuMemAlloc>("cuMemAlloc_v2");
  auto* alloc_pitch = route.template find<&cuMemAllocPitch>("cuMemAllocPitch_v2");
  auto* alloc_managed = route.template find<&cuMemAllocManaged>("cuMemAllocManaged");
  auto* free = route.template find<&cuMemFree>("cuMemFree_v2");
  std::array<CUdeviceptr, 3> addresses = {};
  size_t pitch = 0;
  print("cuMemAlloc", alloc(&addresses[0], 3 * kMiB));
  print("cuMemAllocPitch", alloc_pitch(&addresses[1], &pitch, 1000, 64, 4));
  print("cuMemAllocManaged", alloc_managed(&addresses[2], kMiB, CU_MEM_ATTACH_GLOBAL));
  CUdeviceptr untouched = 42;
  print("cuMemAlloc of 2^60", alloc(&untouched, size_t{1} << 60));
  print("cuMemAlloc of 0", alloc(&untouched, 0));
  std::printf("untouched %llu\n", untouched);
  for (const CUdeviceptr address : addresses) print("cuMemFree", free(address));
  print("cuMemFree of 0", free(0));
  print("cuMemFree of nonsense", free(12345));
}

template <typename Route>
void stream_ordered(Route& route) {
  auto* alloc = route.template find<&cuMemAllocAsync>(STREAM_ORDERED(cuMemAllocAsync));
  auto* alloc_from =
      route.template find<&cuMemAllocFromPoolAsync>(STREAM_ORDERED(cuMemAllocFromPoolAsync));
  auto* free = route.template find<&cuMemFreeAsync>(STREAM_ORDERED(cuMemFreeAsync));
  auto* create = route.template find<&cuMemPoolCreate>("cuMemPoolCreate");
  auto* trim = route.template find<&cuMemPoolTrimTo>("cuMemPoolTrimTo");
  auto* destroy = route.template find<&cuMemPoolDestroy>("cuMemPoolDestroy");
  auto* default_pool = route.template find<&cuDeviceGetDefaultMemPool>("cuDeviceGetDefaultMemPool");
  auto* set_attribute = route.template find<&cuMemPoolSetAttribute>("cuMemPoolSetAttribute");

  CUmemoryPool pool = nullptr;
  print("cuDeviceGetDefaultMemPool", default_pool(&pool, 0));
  cuuint64_t threshold = UINT64_MAX;
  print("cuMemPoolSetAttribute",
        set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool own_pool = nullptr;
  print("cuMemPoolCreate", create(&own_pool, &properties));
  CUdeviceptr first = 0;
  CUdeviceptr second = 0;
  print("cuMemAllocAsync", alloc(&first, kMiB, nullptr));
  print("cuMemAllocFromPoolAsync", alloc_from(&second, 2 * kMiB, own_pool, CU_STREAM_PER_THREAD));
  print("cuMemFreeAsync", free(first, nullptr));
  print("cuMemFreeAsync", free(second, CU_STREAM_PER_THREAD));
  print("cuMemPoolTrimTo", trim(pool, 0));
  print("cuMemPoolDestroy", destroy(own_pool));
}

// Pools of a device, and of a location.
template <typename Route>
void current_pools(Route& route) {
  auto* get = route.template find<&cuDeviceGetMemPool>("cuDeviceGetMemPool");
  auto* set = route.template find<&cuDeviceSetMemPool>("cuDeviceSetMemPool");
  auto* get_default = route.template find<&cuMemGetDefaultMemPool>("cuMemGetDefaultMemPool");
  auto* get_of = route.template find<&cuMemGetMemPool>("cuMemGetMemPool");
  auto* set_of = route.template find<&cuMemSetMemPool>("cuMemSetMemPool");
  CUmemLocation location = {};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool = nullptr;
  print("cuDeviceGetMemPool", get(&pool, 0));
  print("cuDeviceSetMemPool", set(0, pool));
  print("cuMemGetDefaultMemPool", get_default(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
  print("cuMemGetMemPool", get_of(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
  print("cuMemSetMemPool", set_of(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
}

template <typename Route>
void virtual_memory(Route& route) {
  auto* reserve = route.template find<&cuMemAddressReserve>("cuMemAddressReserve");
  auto* unreserve = route.template find<&cuMemAddressFree>("cuMemAddressFree");
  auto* create = route.template find<&cuMemCreate>("cuMemCreate");
  auto* release = route.template find<&cuMemRelease>("cuMemRelease");
  auto* map = route.template find<&cuMemMap>("cuMemMap");
  auto* unmap = route.template find<&cuMemUnmap>("cuMemUnmap");
  auto* set_access = route.template find<&cuMemSetAccess>("cuMemSetAccess");
  auto* retain = route.template find<&cuMemRetainAllocationHandle>("cuMemRetainAllocationHandle");

  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle memory = 0;
  CUmemGenericAllocationHandle same_memory = 0;
  print("cuMemAddressReserve", reserve(&address, 8 * kMiB, 0, 0, 0));
  print("cuMemCreate", create(&memory, 2 * kMiB, &properties, 0));
  print("cuMemMap", map(address, 2 * kMiB, 0, memory, 0));
  print("cuMemSetAccess", set_access(address, 2 * kMiB, &access, 1));
  print("cuMemRetainAllocationHandle",
        retain(&same_memory, reinterpret_cast<void*>(static_cast<uintptr_t>(address))));
  print("cuMemRelease", release(same_memory));
  print("cuMemRelease", release(memory));
  print("cuMemUnmap", unmap(address, 2 * kMiB));
  print("cuMemAddressFree", unreserve(address, 8 * kMiB));
  print("cuMemCreate of 1 byte", create(&memory, 1, &properties, 0));
}

template <typename Route>
void host(Route& route) {
  auto* host_alloc = route.template find<&cuMemHostAlloc>("cuMemHostAlloc");
  auto* alloc_host = route.template find<&cuMemAllocHost>("cuMemAllocHost_v2");
  auto* free_host = route.template find<&cuMemFreeHost>("cuMemFreeHost");
  auto* register_host = route.template find<&cuMemHostRegister>("cuMemHostRegister_v2");
  auto* unregister_host = route.template find<&cuMemHostUnregister>("cuMemHostUnregister");
  void* first = nullptr;
  void* second = nullptr;
  print("cuMemHostAlloc", host_alloc(&first, 5000, CU_MEMHOSTALLOC_PORTABLE));
  print("cuMemAllocHost", alloc_host(&second, 6000));
  print("cuMemFreeHost", free_host(first));
  print("cuMemFreeHost", free_host(second));
  alignas(4096) static char pages[2 * 4096];
  print("cuMemHostRegister", register_host(pages, sizeof(pages), 0));
  print("cuMemHostUnregister", unregister_host(pages));
}

template <typename Route>
void arrays(Route& route) {
  auto* create = route.template find<&cuArrayCreate>("cuArrayCreate_v2");
  auto* create_3d = route.template find<&cuArray3DCreate>("cuArray3DCreate_v2");
  auto* destroy = route.template find<&cuArrayDestroy>("cuArrayDestroy");
  CUarray flat = nullptr;
  CUarray solid = nullptr;
  CUDA_ARRAY_DESCRIPTOR flat_description = {};
  flat_description.Width = 64;
  flat_description.Height = 32;
  flat_description.Format = CU_AD_FORMAT_FLOAT;
  flat_description.NumChannels = 4;
  CUDA_ARRAY3D_DESCRIPTOR solid_description = {};
  solid_description.Width = 16;
  solid_description.Height = 8;
  solid_description.Depth = 4;
  solid_description.Format = CU_AD_FORMAT_HALF;
  solid_description.NumChannels = 2;
  auto* create_levels = route.template find<&cuMipmappedArrayCreate>("cuMipmappedArrayCreate");
  auto* destroy_levels = route.template find<&cuMipmappedArrayDestroy>("cuMipmappedArrayDestroy");
  CUmipmappedArray levels = nullptr;
  print("cuMipmappedArrayCreate", create_levels(&levels, &solid_description, 3));
  print("cuMipmappedArrayDestroy", destroy_levels(levels));
  print("cuArrayCreate", create(&flat, &flat_description));
  print("cuArray3DCreate", create_3d(&solid, &solid_description));
  print("cuArrayDestroy", destroy(flat));
  print("cuArrayDestroy", destroy(solid));
}

template <typename Route>
void graphs(Route& route) {
  auto* create = route.template find<&cuGraphCreate>("cuGraphCreate");
  auto* add_alloc = route.template find<&cuGraphAddMemAllocNode>("cuGraphAddMemAllocNode");
  auto* add_free = route.template find<&cuGraphAddMemFreeNode>("cuGraphAddMemFreeNode");
  auto* add = route.template find<&cuGraphAddNode>("cuGraphAddNode_v2");
  auto* trim = route.template find<&cuDeviceGraphMemTrim>("cuDeviceGraphMemTrim");
  auto* destroy = route.template find<&cuGraphDestroy>("cuGraphDestroy");
  CUgraph graph = nullptr;
  CUgraphNode allocated = nullptr;
  CUgraphNode freed = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 3 * kMiB;
  print("cuGraphCreate", create(&graph, 0));
  print("cuGraphAddMemAllocNode", add_alloc(&allocated, graph, nullptr, 0, &parameters));
  print("cuGraphAddMemFreeNode", add_free(&freed, graph, &allocated, 1, parameters.dptr));
  CUgraphNodeParams node = {};
  node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  node.alloc.poolProps = parameters.poolProps;
  node.alloc.bytesize = kMiB;
  print("cuGraphAddNode", add(&allocated, graph, nullptr, nullptr, 0, &node));
  CUgraphNodeParams last = {};
  last.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  last.free.dptr = node.alloc.dptr;
  print("cuGraphAddNode", add(&freed, graph, &allocated, nullptr, 1, &last));
  last = {};
  last.type = CU_GRAPH_NODE_TYPE_EMPTY;
  print("cuGraphAddNode", add(&freed, graph, nullptr, nullptr, 0, &last));
  print("cuGraphDestroy", destroy(graph));
  print("cuDeviceGraphMemTrim", trim(0));
}

template <typename Route>
void modules(Route& route) {
  auto* load = route.template find<&cuModuleLoadData>("cuModuleLoadData");
  auto* unload = route.template find<&cuModuleUnload>("cuModuleUnload");
  auto* load_library = route.template find<&cuLibraryLoadData>("cuLibraryLoadData");
  auto* unload_library = route.template find<&cuLibraryUnload>("cuLibraryUnload");
  static const char image[] = "code";
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  print("cuModuleLoadData", load(&module, image));
  print("cuModuleUnload", unload(module));
  print("cuLibraryLoadData",
        load_library(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  print("cuLibraryUnload", unload_library(library));
}

// A second context, and memory in it.
template <typename Route>
void contexts(Route& route) {
  auto* create = route.template find<&cuCtxCreate>("cuCtxCreate_v4");
  auto* destroy = route.template find<&cuCtxDestroy>("cuCtxDestroy_v2");
  auto* alloc = route.template find<&cuMemAlloc>("cuMemAlloc_v2");
  auto* free = route.template find<&cuMemFree>("cuMemFree_v2");
  CUcontext context = nullptr;
  CUdeviceptr address = 0;
  print("cuCtxCreate", create(&context, nullptr, 0, 0));
  print("cuMemAlloc", alloc(&address, kMiB));
  print("cuMemFree", free(address));
  print("cuCtxDestroy", destroy(context));
  auto* retain = route.template find<&cuDevicePrimaryCtxRetain>("cuDevicePrimaryCtxRetain");
  auto* reset = route.template find<&cuDevicePrimaryCtxReset>("cuDevicePrimaryCtxReset_v2");
  print("cuDevicePrimaryCtxRetain", retain(&context, 1));
  print("cuDevicePrimaryCtxReset", reset(1));
}

template <typename Route>
int make_all_calls(Route& route) {
  auto* initialize = route.template find<&cuInit>("cuInit");
  auto* retain = route.template find<&cuDevicePrimaryCtxRetain>("cuDevicePrimaryCtxRetain");
  auto* release = route.template find<&cuDevicePrimaryCtxRelease>("cuDevicePrimaryCtxRelease_v2");
  auto* set_current = route.template find<&cuCtxSetCurrent>("cuCtxSetCurrent");
  CUcontext context = nullptr;
  if (print("cuInit", initialize(0)) != CUDA_SUCCESS) return 1;
  if (print("cuDevicePrimaryCtxRetain", retain(&context, 0)) != CUDA_SUCCESS) return 1;
  print("cuCtxSetCurrent", set_current(context));
  linear(route);
  stream_ordered(route);
  current_pools(route);
  virtual_memory(route);
  host(route);
  arrays(route);
  graphs(route);
  modules(route);
  contexts(route);
  print("cuDevicePrimaryCtxRelease", release(0));
  return 0;
}

}  // namespace driver_calls
