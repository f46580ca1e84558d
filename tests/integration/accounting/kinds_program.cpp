// Takes memory of every kind on two devices. What must come of it stands in accounting_test.py.
#include "tests/integration/edges/edge_calls.h"

namespace {

using edges::check;
using edges::kMiB;

CUmemLocation on_device(int device) {
  CUmemLocation location = {};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUmemGenericAllocationHandle create(size_t bytes, int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = on_device(device);
  CUmemGenericAllocationHandle memory = 0;
  CHECK(cuMemCreate(&memory, bytes, &properties, 0));
  return memory;
}

void contexts() {
  CUcontext context = nullptr;
  edges::use_device(1);
  edges::use_device(0);
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuDevicePrimaryCtxRelease(0));
  CHECK(cuCtxCreate(&context, nullptr, 0, 1));
  CHECK(cuCtxDestroy(context));
  edges::use_device(0);
}

void linear() {
  CUdeviceptr address = 0;
  edges::allocate(3 * kMiB);
  edges::free_again(edges::allocate(kMiB));
  CHECK(cuMemAllocManaged(&address, kMiB, CU_MEM_ATTACH_GLOBAL));
  cuMemAlloc(&address, size_t{1} << 60);  // refused
}

// From a pool and by a stream of device 1, while device 0 is the current one.
void stream_ordered() {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = on_device(1);
  CUmemoryPool pool = nullptr;
  CUdeviceptr kept = 0;
  CUdeviceptr freed = 0;
  CHECK(cuMemPoolCreate(&pool, &properties));
  CHECK(cuMemAllocFromPoolAsync(&kept, 2 * kMiB, pool, nullptr));
  CHECK(cuMemAllocFromPoolAsync(&freed, kMiB, pool, nullptr));
  CHECK(cuMemFreeAsync(freed, nullptr));
  CUstream stream = nullptr;
  edges::use_device(1);
  CHECK(cuStreamCreate(&stream, 0));
  edges::use_device(0);
  CHECK(cuMemAllocAsync(&kept, 3 * kMiB, stream));
  CHECK(cuMemAllocAsync(&kept, 5 * kMiB, nullptr));
}

// One handle is released while its memory is mapped, one kept while its memory is not, and one
// never mapped.
void virtual_memory() {
  CUdeviceptr address = 0;
  CHECK(cuMemAddressReserve(&address, 16 * kMiB, 0, 0, 0));
  const auto first = create(2 * kMiB, 0);
  const auto second = create(4 * kMiB, 1);
  create(6 * kMiB, 0);
  CHECK(cuMemMap(address, 2 * kMiB, 0, first, 0));
  CHECK(cuMemMap(address + 2 * kMiB, 4 * kMiB, 0, second, 0));
  CHECK(cuMemRelease(first));
  CHECK(cuMemUnmap(address + 2 * kMiB, 4 * kMiB));
  CUdeviceptr given_back = 0;
  CHECK(cuMemAddressReserve(&given_back, 2 * kMiB, 0, 0, 0));
  CHECK(cuMemAddressFree(given_back, 2 * kMiB));
}

void host() {
  alignas(4096) static char pages[3 * 4096];
  void* kept = nullptr;
  void* freed = nullptr;
  CHECK(cuMemHostAlloc(&kept, 5000, 0));
  CHECK(cuMemAllocHost(&freed, 6000));
  CHECK(cuMemFreeHost(freed));
  CHECK(cuMemHostRegister(pages, 8192, 0));
  CHECK(cuMemHostRegister(pages + 8192, 4096, 0));
  CHECK(cuMemHostUnregister(pages + 8192));
}

void arrays() {
  CUDA_ARRAY_DESCRIPTOR flat = {64, 32, CU_AD_FORMAT_FLOAT, 4};
  CUDA_ARRAY3D_DESCRIPTOR solid = {};
  solid.Width = solid.Height = solid.Depth = 8;
  solid.Format = CU_AD_FORMAT_HALF;
  solid.NumChannels = 2;
  CUarray array = nullptr;
  CUmipmappedArray mipmapped = nullptr;
  CHECK(cuArrayCreate(&array, &flat));
  CHECK(cuArrayDestroy(array));
  CHECK(cuMipmappedArrayCreate(&mipmapped, &solid, 2));
}

void graph() {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUDA_MEM_ALLOC_NODE_PARAMS kept = {};
  kept.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  kept.poolProps.location = on_device(0);
  kept.bytesize = 3 * kMiB;
  CUgraphNodeParams freed = {};
  freed.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  freed.alloc.poolProps = kept.poolProps;
  freed.alloc.bytesize = kMiB;
  CHECK(cuGraphCreate(&graph, 0));
  CHECK(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &kept));
  CHECK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &freed));
  CUgraphNodeParams free = {};
  free.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  free.free.dptr = freed.alloc.dptr;
  CUgraphNode last = nullptr;
  CHECK(cuGraphAddNode(&last, graph, &node, nullptr, 1, &free));
}

}  // namespace

int main() {
  contexts();
  linear();
  stream_ordered();
  virtual_memory();
  host();
  arrays();
  graph();
}
