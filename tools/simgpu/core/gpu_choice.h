// What `--simulate` and VRAMSCOPE_SIM_GPU name: which boards, and how many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/simgpu/core/gpu_profile.h"

namespace simgpu {

inline constexpr int kMaxDevices = 16;

struct GpuChoice {
  GpuProfile profile;  // capacity_bytes and context_bytes replaced where a size was given
  int count = 1;
};

struct GpuChoiceResult {
  std::optional<GpuChoice> choice;
  std::string error;  // one line that says what is wrong and what is possible; empty with a choice
};

// PROFILE or SIZE, optionally followed by xN: "h100", "h100x8", "80GiB", "80GiBx2". A size is
// exactly the total memory of a device that costs nothing for its context and is an H100 otherwise.
GpuChoiceResult parse_gpu_choice(std::string_view text);

}  // namespace simgpu
