// cuda.h with every variant of every function declared under its exported name (cuMemAlloc_v2, not
// the macro cuMemAlloc). A definition of cuX in this folder gets the symbol simgpu_cuX; the
// exported symbol cuX is its thunk.
#pragma once

// clang-format off
#include "implementation_names.h"  // generated; before cuda.h
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
// clang-format on

// Declared in cudaProfiler.h, which the wheels do not carry.
extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();
