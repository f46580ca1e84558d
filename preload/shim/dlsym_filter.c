/* dlsym, called by the stub in trampoline_ARCH.S. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "preload/shim/shim.h"

/* In rax and rdx: the stub returns `address` if `answered`, else jumps to the real dlsym. */
struct DlsymAnswer {
  void* address;
  uintptr_t answered;
};

static const struct DlsymAnswer kAskRealDlsym = {NULL, 0};

static int find_row(const char* name) {
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (strcmp(hook_rows[row].symbol, name) == 0) return (int)row;
  }
  return -1;
}

static int find_hooked_row(const char* name) {
  bool may_be_driver = name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
  bool may_be_pytorch = strncmp(name, "_ZN3c10", 7) == 0 || strncmp(name, "_ZN2at", 6) == 0;
  return may_be_driver || may_be_pytorch ? find_row(name) : -1;
}

/* A library that comes after us and defines the name itself is the driver, or another interposer
 * that asks for what lies behind it: given our function, it would call us and we it, for ever. */
static bool defines_it_behind_us(const void* caller, const char* name) {
  struct link_map* asking = library_of(caller);
  struct link_map* ours = library_of(hook_entries);
  if (asking == NULL || ours == NULL) return false;
  const struct link_map* map = ours->l_next;
  while (map != NULL && map != asking) map = map->l_next;
  if (map == NULL) return false;
  void* handle = handle_of(asking);
  if (handle == NULL) return false;
  void* own = libc_dlsym(handle, name);
  dlclose(handle);
  return own != NULL && library_of(own) == asking;
}

/* Our exported symbol must not make a program believe in a driver that is not there. */
static struct DlsymAnswer answer_for_ours(uint32_t row) {
  if (find_real_function(row) != NULL) return kAskRealDlsym;
  void* nothing = libc_dlsym(RTLD_NEXT, hook_rows[row].symbol); /* Sets dlerror. */
  return (struct DlsymAnswer){nothing, 1};
}

static struct DlsymAnswer answer(uint32_t row, void* handle, const char* name, const void* caller) {
  /* Who asks for the next one after itself gets it: a preload before us finds us, one behind us
   * what it overrides. */
  if (handle == RTLD_NEXT) return kAskRealDlsym;
  if (handle == RTLD_DEFAULT) return answer_for_ours(row);
  void* found = libc_dlsym(handle, name);
  if (found == hook_entries[row]) return answer_for_ours(row);
  if (is_disabled() || !is_entry_of_row(row, found) || defines_it_behind_us(caller, name)) {
    return kAskRealDlsym;
  }
  void* real = next_dlsym == libc_dlsym ? found : next_dlsym(handle, name);
  if (real == NULL) return kAskRealDlsym;
  set_real_function(row, real);
  dlerror(); /* A dlsym that succeeded leaves no message. */
  return (struct DlsymAnswer){hook_entries[row], 1};
}

HIDDEN struct DlsymAnswer shim_dlsym(void* handle, const char* name, const void* caller) {
  find_dlsym();
  int row = name != NULL ? find_hooked_row(name) : -1;
  if (row < 0) return kAskRealDlsym;
  int saved_errno = errno;
  struct DlsymAnswer result = answer((uint32_t)row, handle, name, caller);
  errno = saved_errno;
  return result;
}
