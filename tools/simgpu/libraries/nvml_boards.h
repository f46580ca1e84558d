#pragma once

#include <cstdint>
#include <string>

#include "tools/simgpu/core/gpu_profile.h"

// The boards that NVML shows: all simulated ones, whatever CUDA_VISIBLE_DEVICES says. Any thread;
// the CUDA driver is never initialised, because programs ask NVML first so that they can still
// fork.

namespace simgpu::libraries::nvml {

int board_count();

/// The same for every board.
const GpuProfile& board_profile();

/// "GPU-" and the UUID that the driver reports.
std::string board_uuid(int board);

/// Where the driver says that the board sits.
int board_pci_bus(int board);

/// "00000000:01:00.0"
std::string board_pci_id(int board);

/// What this process uses of the board's memory, its context included; 0 without a context. Other
/// processes have simulated boards of their own.
uint64_t board_used_bytes(int board);

}  // namespace simgpu::libraries::nvml
