// `vramscope replay`, for people.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/allocator/replay_report.h"

namespace vramscope {

std::string replay_text(const std::vector<DeviceReplay>& replays, uint64_t empty_cache_every);

}  // namespace vramscope
