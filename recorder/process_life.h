// Whether a process still uses a file that it keeps locked and mapped.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope {

// A POSIX write lock on the first byte, held by another process than this one.
bool write_lock_is_held(int fd);

// Whether process `pid` has a file of this name (its last component) mapped. True also where that
// cannot be found out though the process lives. (A process that closed all its descriptors has lost
// its lock, and maps the file still; one that executed another program maps it no more.)
bool process_maps_file(uint32_t pid, const std::string& path);

}  // namespace vramscope
