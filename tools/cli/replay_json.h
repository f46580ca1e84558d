// `vramscope replay --json`, for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/allocator/replay_report.h"

namespace vramscope {

std::string replay_json(const std::vector<DeviceReplay>& replays);

}  // namespace vramscope
