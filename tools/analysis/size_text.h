// Sizes in the sentences of an analysis.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope {

std::string size_text(uint64_t bytes);  // 1.86 GiB, 17 B

}  // namespace vramscope
