// cuda.h with every exported variant of an entry point under its own name: the old ones without
// suffix too, which cuda.h otherwise renames to the newest. _ptsz variants have the signature of
// the variant without it.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

// Hooked entry points that are newer than the oldest cuda.h we build with (13.0).
#if CUDA_VERSION < 13010
extern "C" {
CUresult CUDAAPI cuMulticastBindMem_v2(CUmemGenericAllocationHandle multicast, CUdevice device,
                                       size_t multicast_offset, CUmemGenericAllocationHandle memory,
                                       size_t memory_offset, size_t size, unsigned long long flags);
CUresult CUDAAPI cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast, CUdevice device,
                                        size_t multicast_offset, CUdeviceptr address, size_t size,
                                        unsigned long long flags);
}
#endif
