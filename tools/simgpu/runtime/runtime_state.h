#pragma once

#include "tools/simgpu/runtime/cuda_headers.h"

// What the runtime remembers: the driver it loaded (per process), and for each thread its current
// device and its last error. All functions may be called by any thread.

namespace simgpu::runtime {

/// Version that the library reports: that of the wheels which it stands in for (CUDA 13.2).
inline constexpr int kRuntimeVersion = 13020;

/// Version whose driver signatures the runtime uses.
inline constexpr int kDriverSignatureVersion = 12090;

/// A driver below this version is too old for a runtime of CUDA 13.
inline constexpr int kOldestDriverVersion = 13000;

/// Loads libcuda.so.1 and initialises it, once per process. cudaErrorInsufficientDriver where there
/// is none, cudaErrorNoDevice where it has no device.
cudaError_t load_driver();

/// The same; an error becomes the thread's last error.
cudaError_t initialise();

/// The driver's function for `name`, or null. `flags` are those of cuGetProcAddress.
/// Null too while no driver is loaded.
void* driver_function(const char* name, cuuint64_t flags);

/// The driver's own look-up function, for callers that need its status.
using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult*);
GetProcAddress driver_get_proc_address();

/// Number of devices; 0 before `initialise()`.
int device_count();

/// The device of the thread's current context, else the one that it last selected (0 at first).
/// Requires `initialise()`; creates no context.
int current_device();

/// Selects `device` for the thread and makes its primary context current, creating it if need be.
cudaError_t select_device(int device);

/// Makes sure that the thread has a context: that of `current_device()` if it has none.
/// Calls `initialise()`.
cudaError_t bind_context();

/// The primary context of `device`, retained once by the runtime.
cudaError_t primary_context(int device, CUcontext* context);

/// Destroys the primary context of the thread's device with everything in it.
cudaError_t reset_current_device();

/// Keeps `error` as the thread's last error, unless it is success or "not ready"; returns it.
cudaError_t record_error(cudaError_t error);

/// The driver's codes are the runtime's: the same, for a driver result.
cudaError_t record_error(CUresult result);

cudaError_t peek_last_error();

/// Returns the last error and forgets it.
cudaError_t take_last_error();

}  // namespace simgpu::runtime
