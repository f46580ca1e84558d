// Optimizer steps and NVTX ranges in `report`'s text.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/range_use.h"

namespace vramscope {

// Lines about one device, each table with an empty line before it; `top`: rows of a table, 0: all.
std::vector<std::string> range_lines(const ProcessRecording& process, const RangeReport& ranges,
                                     size_t top);

}  // namespace vramscope
