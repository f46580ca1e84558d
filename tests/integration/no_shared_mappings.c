/* Preloaded: makes the folder $NO_SHARED_MAPPINGS look as if its file system could not map files
 * shared and writable, as some network and FUSE file systems cannot. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_refused(int fd) {
  const char* folder = getenv("NO_SHARED_MAPPINGS");
  char link[64];
  char path[4096];
  if (folder == NULL) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && fd >= 0 && is_refused(fd)) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void* mmap64(void* address, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}
