// Whether a process still uses a file that it keeps locked and mapped.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope {

// Bytes of a ring file that POSIX write locks say who is there by. A process gives up all its locks
// on a file when it closes any descriptor of it.
constexpr int kProcessLockByte = 0;
constexpr int kDrainerLockByte = 1;

// False: another process has the lock, or the file system knows none (then errno is not EAGAIN or
// EACCES).
bool lock_byte(int fd, int byte);

// Held by another process than this one.
bool byte_is_locked(int fd, int byte);

// Whether process `pid` has a file of this name (its last component) mapped. True also where that
// cannot be found out though the process lives. (A process that closed all its descriptors has lost
// its lock, and maps the file still; one that executed another program maps it no more.)
bool process_maps_file(uint32_t pid, const std::string& path);

}  // namespace vramscope
