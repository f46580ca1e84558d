// cudaDeviceProp, filled from the driver's attributes.

#include <cstring>

#include "tools/simgpu/runtime/forward.h"

namespace simgpu::runtime {
namespace {

struct IntProperty {
  int cudaDeviceProp::*field;
  CUdevice_attribute attribute;
};

struct SizeProperty {
  size_t cudaDeviceProp::*field;
  CUdevice_attribute attribute;
};

using Prop = cudaDeviceProp;

constexpr IntProperty kIntProperties[] = {
    {&Prop::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&Prop::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&Prop::multiProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {&Prop::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&Prop::regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&Prop::regsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&Prop::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&Prop::maxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {&Prop::maxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&Prop::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {&Prop::persistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
    {&Prop::accessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
    {&Prop::memoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {&Prop::integrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {&Prop::canMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {&Prop::concurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {&Prop::ECCEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {&Prop::pciBusID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {&Prop::pciDeviceID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {&Prop::pciDomainID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {&Prop::tccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
    {&Prop::asyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {&Prop::unifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {&Prop::streamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {&Prop::globalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {&Prop::localL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {&Prop::managedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {&Prop::isMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
    {&Prop::multiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
    {&Prop::hostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {&Prop::pageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {&Prop::pageableMemoryAccessUsesHostPageTables,
     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
    {&Prop::directManagedMemAccessFromHost,
     CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
    {&Prop::concurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {&Prop::computePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {&Prop::canUseHostPointerForRegisteredMem,
     CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {&Prop::cooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {&Prop::hostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {&Prop::hostRegisterReadOnlySupported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
    {&Prop::sparseCudaArraySupported, CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED},
    {&Prop::deferredMappingCudaArraySupported,
     CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED},
    {&Prop::timelineSemaphoreInteropSupported,
     CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED},
    {&Prop::memoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {&Prop::gpuDirectRDMASupported, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
    {&Prop::gpuDirectRDMAWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
    {&Prop::ipcEventSupported, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
    {&Prop::clusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
    {&Prop::unifiedFunctionPointers, CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
    {&Prop::deviceNumaConfig, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG},
    {&Prop::deviceNumaId, CU_DEVICE_ATTRIBUTE_NUMA_ID},
    {&Prop::hostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
    {&Prop::mpsEnabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
};

constexpr SizeProperty kSizeProperties[] = {
    {&Prop::sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {&Prop::sharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {&Prop::sharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {&Prop::reservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {&Prop::totalConstMem, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {&Prop::memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {&Prop::textureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {&Prop::texturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {&Prop::surfaceAlignment, CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
};

int attribute_of(CUdevice_attribute attribute, int device) {
  int value = 0;
  driver_api().cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

/// Attributes of the three dimensions follow each other in the enumeration.
void fill_dimensions(int (&dimensions)[3], CUdevice_attribute first, int device) {
  for (int axis = 0; axis < 3; ++axis) {
    dimensions[axis] = attribute_of(static_cast<CUdevice_attribute>(first + axis), device);
  }
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  if (device < 0 || device >= device_count()) return record_error(cudaErrorInvalidDevice);

  std::memset(properties, 0, sizeof *properties);
  const DriverApi& driver = driver_api();
  driver.cuDeviceGetName(properties->name, sizeof properties->name, device);
  driver.cuDeviceTotalMem(&properties->totalGlobalMem, device);
  driver.cuDeviceGetUuid(&properties->uuid, device);
  for (const IntProperty& property : kIntProperties) {
    properties->*property.field = attribute_of(property.attribute, device);
  }
  for (const SizeProperty& property : kSizeProperties) {
    properties->*property.field = attribute_of(property.attribute, device);
  }
  fill_dimensions(properties->maxThreadsDim, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device);
  fill_dimensions(properties->maxGridSize, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device);
  properties->gpuDirectRDMAFlushWritesOptions =
      attribute_of(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, device);
  properties->memoryPoolSupportedHandleTypes =
      attribute_of(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, device);
  return cudaSuccess;
}
