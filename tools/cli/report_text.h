// `vramscope report` for people: at most 100 columns, sizes in binary units with the exact bytes.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/report.h"

namespace vramscope {

// `top`: most stacks per device, 0 for all.
// What is said of the requests that found no memory and were the last ones; empty if there are
// none.
std::string final_ooms_text(const ProcessReport& process, size_t columns);

std::string report_text(const std::vector<ProcessReport>& processes, size_t top);

}  // namespace vramscope
