// `vramscope report --json`: an interface for other programs; its keys are described in README.md.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/report.h"

namespace vramscope {

// `top`: most stacks per device, 0 for all.
std::string report_json(const std::vector<ProcessReport>& processes, size_t top);

}  // namespace vramscope
