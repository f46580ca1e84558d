/* libvramscope_nvtx.so, which NVTX_INJECTION64_PATH names: the first NVTX call of a library in the
 * process loads it. It loads the core, in which the rest is, and exports nothing else.
 *
 * A process that uses NVTX but not CUDA has the core loaded then; it opens no session, and so
 * writes no file. */
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>

#include "preload/shim/core_interface.h"
#include "preload/shim/neighbour.h"
#include "preload/shim/settings.h"

typedef const void* (*GetExportTable)(uint32_t id);

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    GetExportTable get_export_table) {
  if (is_disabled()) return 0;
  char path[PATH_MAX];
  void* core = NULL;
  if (path_beside((const void*)InitializeInjectionNvtx2, CORE_LIBRARY_NAME, path, sizeof(path))) {
    core = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  CoreNvtx attach = core != NULL ? (CoreNvtx)dlsym(core, CORE_NVTX_NAME) : NULL;
  if (attach != NULL) return attach(get_export_table);
  static int has_warned;
  if (!__atomic_exchange_n(&has_warned, 1, __ATOMIC_RELAXED)) {
    warn(CORE_LIBRARY_NAME, "not found beside libvramscope_nvtx.so",
         "NVTX ranges are not recorded (install the libraries of one version in one folder)");
  }
  return 0;
}
