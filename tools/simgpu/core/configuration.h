// What the environment says about the simulated machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simgpu/core/gpu_choice.h"

namespace simgpu {

// VRAMSCOPE_SIM_GPU      profile or size, optionally xN   default h100
// VRAMSCOPE_SIM_COUNT    number of boards                 default N, else 1
// VRAMSCOPE_SIM_LAG      driver calls until work is seen as complete   default 0
// VRAMSCOPE_SIM_CONTEXT  size: what one context costs     default the profile's
// VRAMSCOPE_SIM_LOG      file: one line for each memory call           default none
// VRAMSCOPE_SIM_VERBOSE  1: names an unsupported call each time, not once
// VRAMSCOPE_SIM_JOB      where the processes of a job share the boards' memory (job_ledger.h)
// CUDA_VISIBLE_DEVICES   ordinals or GPU UUIDs            default all boards
struct Configuration {
  GpuChoice gpus;
  uint64_t lag_calls = 0;
  std::string log_path;
  bool verbose = false;
  std::string job;
  // Which board each visible device is: index = ordinal.
  std::vector<int> visible_boards;
};

// Reads the environment. Each malformed value costs one line on stderr, and its default is used.
Configuration read_configuration();

inline constexpr uint64_t kMaxLagCalls = 1'000'000'000;

// A value of VRAMSCOPE_SIM_LAG; empty for anything that is no number up to kMaxLagCalls.
std::optional<uint64_t> parse_lag(std::string_view text);

// A board's UUID as text, without the "GPU-" in front: 32 hexadecimal digits in groups.
std::string uuid_text(int board);
// The same as 16 bytes.
void uuid_bytes(int board, char bytes[16]);

// The boards that a value of CUDA_VISIBLE_DEVICES selects, by the driver's rules: the list ends at
// the first entry that is no board; a board named twice makes it empty.
std::vector<int> parse_visible_devices(const std::string& text, int board_count);

}  // namespace simgpu
