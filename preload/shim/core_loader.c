/* Loads the core at the first hooked call, and sets the trampolines.
 *
 * No lock of ours: a thread that arrives while another one loads calls dlopen as well and gets the
 * same library. The one lock on that path is the dynamic linker's, which is recursive and which a
 * constructor that makes CUDA calls already holds. A lock or a wait of our own would deadlock
 * between such a constructor (holds the linker's lock, wants ours) and a loading thread (holds
 * ours, wants the linker's).
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>

#include "preload/shim/core_interface.h"
#include "preload/shim/neighbour.h"
#include "preload/shim/shim.h"

static _Thread_local int call_depth __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_loading __attribute__((tls_model("initial-exec")));

/* Set once and for good when the core cannot be had. */
static bool core_is_missing;

static int* call_depth_of_thread(void) { return &call_depth; }

static const struct ShimServices services = {
    .table_id = HOOK_TABLE_ID,
    .row_count = HOOK_ROW_COUNT,
    .real_function = real_function,
    .loaded_symbol = loaded_symbol,
    .call_depth = call_depth_of_thread,
    .watch_unloads = watch_unloads,
};

static void set_target(uint32_t row, void* target) {
  __atomic_store_n(&hook_targets[row], target, __ATOMIC_RELEASE);
}

static bool attach(void* core) {
  CoreAttach attach_core = (CoreAttach)libc_dlsym(core, CORE_ATTACH_NAME);
  void* wrappers[HOOK_ROW_COUNT] = {NULL};
  if (attach_core == NULL || attach_core(&services, wrappers) != 0) return false;
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (wrappers[row] == NULL && hook_rows[row].kind != HOOK_RESOLVER) return false;
  }
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (wrappers[row] != NULL) set_target(row, wrappers[row]);
  }
  return true;
}

static bool load_core(void) {
  if (__atomic_load_n(&core_is_missing, __ATOMIC_RELAXED)) return false;
  find_dlsym();
  char path[PATH_MAX + sizeof(CORE_LIBRARY_NAME) + 1] = CORE_LIBRARY_NAME;
  void* core = path_beside(hook_entries, CORE_LIBRARY_NAME, path, sizeof(path))
                   ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                   : NULL;
  if (core != NULL && attach(core)) {
    say_deepbind_where_cuda_is_used();
    return true;
  }
  if (!__atomic_exchange_n(&core_is_missing, true, __ATOMIC_RELAXED)) {
    const char* reason = core == NULL ? dlerror() : "it belongs to another version";
    warn(path, reason != NULL ? reason : "cannot be loaded",
         "nothing is recorded (install both libraries of one version in one folder)");
  }
  return false;
}

static void* real_for_good(uint32_t row) {
  void* function = find_real_function(row);
  if (function == NULL) return real_function(row);
  set_target(row, function);
  return function;
}

static void* choose_target(uint32_t row) {
  if (is_disabled()) return real_for_good(row);
  if (hook_rows[row].kind == HOOK_RESOLVER) {
    set_target(row, resolver_wrapper(row));
    return resolver_wrapper(row);
  }
  /* PyTorch reports CPU memory too. GPU blocks only come after driver calls, which load the core.
   */
  if (hook_rows[row].kind == HOOK_PYTORCH || is_loading) return real_function(row);
  is_loading = true;
  bool is_loaded = load_core();
  is_loading = false;
  void* target = __atomic_load_n(&hook_targets[row], __ATOMIC_ACQUIRE);
  return is_loaded ? target : real_for_good(row);
}

void* shim_first_call(uint32_t row) {
  int saved_errno = errno;
  void* target = choose_target(row);
  errno = saved_errno;
  return target;
}
