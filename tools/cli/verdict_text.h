// What `run` says at its end of processes that ran out of memory.
#pragma once

#include <string>
#include <vector>

namespace vramscope {

// The verdict on the last requests of each process, as in `report`; empty if none ended for want of
// memory. Reads the sessions; leaves out those that cannot be read.
std::string verdict_text_of_sessions(const std::vector<std::string>& session_files, size_t columns);

}  // namespace vramscope
