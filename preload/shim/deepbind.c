/* Libraries loaded with RTLD_DEEPBIND find libc and the driver before any preload: what they call
 * themselves passes us by, and nothing in the process can change that. It is said in one line,
 * where CUDA is used at all.
 *
 * dlopen is entered by a jump, as dlsym is: it looks at its caller's RUNPATH.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "preload/shim/shim.h"

void* (*next_dlopen)(const char*, int) = NULL;

enum { NOTHING_SEEN, NAME_WRITTEN, SAID };
static int state = NOTHING_SEEN;
static char first_name[256];
static bool uses_cuda;

static void say(void) {
  int written = NAME_WRITTEN;
  if (!__atomic_compare_exchange_n(&state, &written, SAID, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  warn(first_name, "was loaded with RTLD_DEEPBIND, past every preload",
       "CUDA calls that it makes itself are not recorded");
}

static void note(const char* name) {
  static int writers;
  if (__atomic_fetch_add(&writers, 1, __ATOMIC_RELAXED) != 0) return; /* The first one is enough. */
  snprintf(first_name, sizeof(first_name), "%s", name);
  __atomic_store_n(&state, NAME_WRITTEN, __ATOMIC_RELEASE);
  if (__atomic_load_n(&uses_cuda, __ATOMIC_RELAXED)) say();
}

HIDDEN void shim_dlopen(const char* name, int mode) {
  int saved_errno = errno;
  if (__atomic_load_n(&next_dlopen, __ATOMIC_ACQUIRE) == NULL) {
    void* next = find_next_symbol("dlopen");
    __atomic_store_n(&next_dlopen, (void* (*)(const char*, int))next, __ATOMIC_RELEASE);
  }
  bool is_deep = (mode & RTLD_DEEPBIND) != 0 && (mode & RTLD_NOLOAD) == 0;
  if (is_deep && name != NULL && !is_disabled()) note(name);
  errno = saved_errno;
}

void say_deepbind_where_cuda_is_used(void) {
  __atomic_store_n(&uses_cuda, true, __ATOMIC_RELAXED);
  say();
}

/* All calls of the process may have been that library's. */
__attribute__((destructor)) static void say_at_exit(void) {
  if (__atomic_load_n(&state, __ATOMIC_RELAXED) != NAME_WRITTEN) return;
  if (loaded_symbol("libcuda.so.1", "cuInit") != NULL) say();
}
