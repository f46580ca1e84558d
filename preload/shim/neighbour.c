#include "preload/shim/neighbour.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>

bool path_beside(const void* address, const char* name, char* path, size_t size) {
  Dl_info info;
  struct link_map* library = NULL;
  if (!dladdr1(address, &info, (void**)&library, RTLD_DL_LINKMAP)) return false;
  char folder[PATH_MAX];
  if (library == NULL || dlinfo(library, RTLD_DI_ORIGIN, folder) != 0) return false;
  return (size_t)snprintf(path, size, "%s/%s", folder, name) < size;
}
