#pragma once

#include "tools/simgpu/libraries/nvml_boards.h"

// What the sources of the NVML stand-in share. Facts from nvml.h of the CUDA toolkit 13.

namespace simgpu::libraries::nvml {

// nvmlReturn_t
inline constexpr int kSuccess = 0;
inline constexpr int kInvalidArgument = 2;
inline constexpr int kNotSupported = 3;
inline constexpr int kNotFound = 6;
inline constexpr int kInsufficientSize = 7;

/// nvmlDevice_t: the board's number, counted from one, because a handle is not null.
using DeviceHandle = void*;

inline DeviceHandle handle_of(int board) {
  return reinterpret_cast<DeviceHandle>(static_cast<intptr_t>(board) + 1);
}

/// Less than zero where the handle is none of ours.
inline int board_of(DeviceHandle handle) {
  const auto board = reinterpret_cast<intptr_t>(handle) - 1;
  return board >= 0 && board < board_count() ? static_cast<int>(board) : -1;
}

}  // namespace simgpu::libraries::nvml
