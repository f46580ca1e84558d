#include "recorder/process_life.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <fstream>
#include <string_view>

namespace vramscope {

namespace {

struct flock write_lock(int byte) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

}  // namespace

bool lock_byte(int fd, int byte) {
  struct flock lock = write_lock(byte);
  return fcntl(fd, F_SETLK, &lock) == 0;
}

bool byte_is_locked(int fd, int byte) {
  struct flock lock = write_lock(byte);
  return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

bool process_maps_file(uint32_t pid, const std::string& path) {
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) return true;
  // By name: device and inode numbers in this file are other ones than stat's on overlayfs, btrfs.
  const std::string name = "/" + path.substr(path.rfind('/') + 1);
  std::string line;
  while (std::getline(maps, line)) {
    if (std::string_view(line).ends_with(name)) return true;
  }
  return false;
}

}  // namespace vramscope
