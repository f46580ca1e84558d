/* dlclose: when code has left the address space, what the core remembers about its addresses is
 * void.
 */
#include <dlfcn.h>
#include <link.h>

#include "preload/shim/shim.h"

typedef int (*Dlclose)(void* handle);

/* The core's, or NULL: nobody remembers anything. */
static uint64_t* unloads_seen;

static Dlclose real_dlclose(void) {
  static Dlclose known;
  Dlclose function = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (function != NULL) return function;
  function = (Dlclose)find_next_symbol("dlclose");
  __atomic_store_n(&known, function, __ATOMIC_RELAXED);
  return function;
}

static int read_unloads(struct dl_phdr_info* info, size_t size, void* unloads) {
  (void)size;
  *(uint64_t*)unloads = info->dlpi_subs;
  return 1;
}

/* Takes the dynamic linker's lock, as dlclose has just done. */
static uint64_t count_unloads(void) {
  uint64_t unloads = 0;
  dl_iterate_phdr(read_unloads, &unloads);
  return unloads;
}

static void raise_to(uint64_t* counter, uint64_t value) {
  uint64_t seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (seen < value && !__atomic_compare_exchange_n(counter, &seen, value, false,
                                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

void watch_unloads(uint64_t* counter) {
  raise_to(counter, count_unloads());
  __atomic_store_n(&unloads_seen, counter, __ATOMIC_RELEASE);
}

/* Most calls only give a reference back and unload nothing: the linker's own count tells. */
__attribute__((visibility("default"))) int dlclose(void* handle) {
  int result = real_dlclose()(handle);
  uint64_t* counter = __atomic_load_n(&unloads_seen, __ATOMIC_ACQUIRE);
  if (counter != NULL) raise_to(counter, count_unloads());
  return result;
}
