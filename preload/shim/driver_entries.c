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

/* Its name up to ".so": libcuda.so.1 is also called libcuda.so.580.65.06. */
static size_t stem_length(const char* library) {
  const char* suffix = strstr(library, ".so");
  return suffix != NULL ? (size_t)(suffix - library) + strlen(".so") : strlen(library);
}

/* The library of `address` if it is `defining`, in which rows have their functions. */
static struct link_map* library_if(const void* address, const char* defining) {
  struct link_map* library = library_of(address);
  if (library == NULL) return NULL;
  const char* slash = strrchr(library->l_name, '/');
  const char* name = slash != NULL ? slash + 1 : library->l_name;
  return strncmp(name, defining, stem_length(defining)) == 0 ? library : NULL;
}

static bool is_known(uint32_t row, const void* address) {
  return __atomic_load_n(&entry_addresses[row], __ATOMIC_RELAXED) == address;
}

static void learn(struct link_map* library, const char* defining) {
  find_dlsym();
  void* handle = handle_of(library);
  if (handle == NULL) return;
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (strcmp(hook_rows[row].library, defining) != 0) continue;
    void* address = libc_dlsym(handle, hook_rows[row].symbol);
    __atomic_store_n(&entry_addresses[row], address, __ATOMIC_RELAXED);
  }
  dlclose(handle);
  dlerror(); /* Rows that this library lacks must leave no message behind. */
}

bool is_entry_of_row(uint32_t row, const void* address) {
  if (address == NULL) return false;
  if (is_known(row, address)) return true;
  const char* defining = hook_rows[row].library;
  struct link_map* library = library_if(address, defining);
  if (library == NULL) return false;
  learn(library, defining);
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
  const char* driver = hook_rows[HOOK_cuGetProcAddress].library;
  struct link_map* library = library_if(address, driver);
  if (library == NULL) return -1;
  learn(library, driver);
  return find_known_row(base, address);
}
