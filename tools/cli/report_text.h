// `vramscope report` for people: at most 100 columns, sizes in binary units with the exact bytes.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/report.h"

namespace vramscope {

// `top`: most stacks per device, 0 for all.
std::string report_text(const std::vector<ProcessReport>& processes, size_t top);

}  // namespace vramscope
