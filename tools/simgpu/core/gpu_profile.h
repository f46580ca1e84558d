// What a program can find out about a GPU: the profiles of the boards that can be simulated.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace simgpu {

// The limits that follow from the compute capability alone.
struct ArchitectureLimits {
  int major;
  int minor;
  int shared_bytes_per_sm;
  int shared_bytes_per_block_opt_in;
  int threads_per_sm;
  int blocks_per_sm;
};

struct GpuProfile {
  std::string_view name;            // what the user types
  std::string_view marketing_name;  // what cuDeviceGetName answers
  uint64_t capacity_bytes;          // usable memory: what cuDeviceTotalMem answers
  uint64_t context_bytes;           // what one context costs
  int compute_major;
  int compute_minor;
  int sm_count;
  int l2_bytes;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
};

// All profiles, in the order in which help texts list them.
std::span<const GpuProfile> gpu_profiles();

// By name, in any case; null for an unknown name.
const GpuProfile* find_gpu_profile(std::string_view name);

const ArchitectureLimits& architecture_limits(const GpuProfile& profile);

}  // namespace simgpu
