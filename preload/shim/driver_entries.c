/* Which function is which entry point: decided by address, never by the name that was asked for,
 * because cuGetProcAddress("cuMemAlloc") returns cuMemAlloc_v2.
 *
 * The addresses of all rows in libcuda are learned in one go when a lookup first returns one of
 * them, so that later lookups take no lock. A library that was unloaded and loaded elsewhere does
 * not match any more and is learned again.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/shim/shim.h"

static void* entry_addresses[HOOK_ROW_COUNT];

/* The library of `address` if it is one that rows of this kind are about. */
static struct link_map* defining_library(const void* address, enum HookRowKind kind) {
  const char* prefix = kind == HOOK_PYTORCH ? "libc10.so" : "libcuda.so";
  struct link_map* library = library_of(address);
  if (library == NULL) return NULL;
  const char* slash = strrchr(library->l_name, '/');
  const char* name = slash != NULL ? slash + 1 : library->l_name;
  return strncmp(name, prefix, strlen(prefix)) == 0 ? library : NULL;
}

static bool is_known(uint32_t row, const void* address) {
  return __atomic_load_n(&entry_addresses[row], __ATOMIC_RELAXED) == address;
}

static void learn(struct link_map* library, enum HookRowKind kind) {
  find_dlsym();
  void* handle = handle_of(library);
  if (handle == NULL) return;
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if ((hook_rows[row].kind == HOOK_PYTORCH) != (kind == HOOK_PYTORCH)) continue;
    void* address = libc_dlsym(handle, hook_rows[row].symbol);
    __atomic_store_n(&entry_addresses[row], address, __ATOMIC_RELAXED);
  }
  dlclose(handle);
  dlerror(); /* Rows that this library lacks must leave no message behind. */
}

bool is_entry_of_row(uint32_t row, const void* address) {
  if (address == NULL) return false;
  if (is_known(row, address)) return true;
  struct link_map* library = defining_library(address, hook_rows[row].kind);
  if (library == NULL) return false;
  learn(library, hook_rows[row].kind);
  return is_known(row, address);
}

static int find_known_row(const char* base, const void* address) {
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (strcmp(hook_rows[row].base, base) == 0 && is_known(row, address)) return (int)row;
  }
  return -1;
}

int find_row_of_address(const char* base, const void* address) {
  if (address == NULL) return -1;
  int row = find_known_row(base, address);
  if (row >= 0) return row;
  struct link_map* library = defining_library(address, HOOK_DRIVER);
  if (library == NULL) return -1;
  learn(library, HOOK_DRIVER);
  return find_known_row(base, address);
}
