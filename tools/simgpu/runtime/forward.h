#pragma once

#include <cstring>
#include <type_traits>

#include "tools/simgpu/runtime/driver_api.h"
#include "tools/simgpu/runtime/runtime_state.h"

// Most of the runtime is the driver under another name. `forward` calls the driver's function with
// the runtime's arguments and keeps the error:
//
//   cudaError_t cudaStreamQuery(cudaStream_t stream) {
//     return forward<&DriverApi::cuStreamQuery>(stream);
//   }
//
// Handles are the same types in both interfaces, enumerations have the same values, and a pointer
// to device memory becomes a CUdeviceptr.

namespace simgpu::runtime {

template <typename To, typename From>
To to_driver(From value) {
  if constexpr (std::is_convertible_v<From, To>) {
    return value;
  } else if constexpr (std::is_pointer_v<From>) {
    return reinterpret_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// A structure that both interfaces declare alike under two names, to be passed by value.
template <typename To, typename From>
To as_driver_struct(const From& value) {
  static_assert(sizeof(To) == sizeof(From));
  To converted;
  std::memcpy(&converted, &value, sizeof converted);
  return converted;
}

template <typename... Parameters, typename... Arguments>
cudaError_t call_driver(CUresult (*function)(Parameters...), Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  if (function == nullptr) return record_error(cudaErrorCallRequiresNewerDriver);
  return record_error(function(to_driver<Parameters>(arguments)...));
}

/// Calls the driver in the thread's context, which is created if the thread has none.
template <auto kFunction, typename... Arguments>
cudaError_t forward(Arguments... arguments) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  return call_driver(driver_api().*kFunction, arguments...);
}

/// The same for functions that need no context, and must not create one.
template <auto kFunction, typename... Arguments>
cudaError_t forward_without_context(Arguments... arguments) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  return call_driver(driver_api().*kFunction, arguments...);
}

/// The same for functions about a device, which is checked first.
template <auto kFunction, typename... Arguments>
cudaError_t forward_for_device(int device, Arguments... arguments) {
  if (cudaError_t error = initialise(); error != cudaSuccess) return error;
  if (device < 0 || device >= device_count()) return record_error(cudaErrorInvalidDevice);
  return call_driver(driver_api().*kFunction, arguments...);
}

}  // namespace simgpu::runtime
