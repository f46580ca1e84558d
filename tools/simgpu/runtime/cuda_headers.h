#pragma once

// The CUDA headers as the runtime needs them: what cuda_runtime_api.h declares is exported, all
// else of the library stays hidden.
//
// With CUDA_API_PER_THREAD_DEFAULT_STREAM defined, both headers rename every stream-ordered
// function to its per-thread twin (cudaMemcpy -> cudaMemcpy_ptds, cuStreamQuery ->
// cuStreamQuery_ptsz). The folder stream_ordered/ is compiled once with and once without it: one
// source, both families.

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
// Of cuda_profiler_api.h and cudaProfiler.h, which the wheels do not carry.
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();
#pragma GCC visibility pop

#include <cuda.h>
extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define SIMGPU_DEFAULT_STREAM per_thread_default_stream
#else
#define SIMGPU_DEFAULT_STREAM legacy_default_stream
#endif
