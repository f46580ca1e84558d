/* The parts of the shim among themselves. Everything here is hidden: the shim exports the hooked
 * names, dlclose, dlopen, dlsym, and nothing else.
 *
 * Rules for all of it: libc only; no allocation of our own; no lock of our own (the dynamic
 * linker's is the only one taken); errno and dlerror are the application's. Shared words are
 * written with the same value by every thread that writes them, so relaxed atomics suffice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook_rows.h"
#include "preload/shim/settings.h"

#define HIDDEN __attribute__((visibility("hidden")))

extern HIDDEN const struct HookRow hook_rows[HOOK_ROW_COUNT];

/* trampoline_ARCH.S: where each exported hook jumps to, and the exported hooks themselves. */
extern HIDDEN void* hook_targets[HOOK_ROW_COUNT];
extern HIDDEN void* const hook_entries[HOOK_ROW_COUNT];

/* real_symbols.c */

/* The dlsym that the application would have called without us: another preload's, or libc's. Also
 * the target of the exported dlsym's jump. Valid after find_dlsym(). */
extern HIDDEN void* (*next_dlsym)(void* handle, const char* name);

/* libc's own dlsym, whatever else is preloaded. Valid after find_dlsym(). */
extern HIDDEN void* (*libc_dlsym)(void* handle, const char* name);

HIDDEN void find_dlsym(void);

/* What the application would have called without us, of a libc function that we export. */
HIDDEN void* find_next_symbol(const char* name);

/* The loaded library that an address lies in, or NULL. */
struct link_map;
HIDDEN struct link_map* library_of(const void* address);

/* A handle for libc_dlsym; give it back with dlclose. Loads nothing. */
HIDDEN void* handle_of(const struct link_map* library);

/* See ShimServices: real_function, loaded_symbol. */
HIDDEN void* real_function(uint32_t row);
HIDDEN void* loaded_symbol(const char* library, const char* symbol);

/* Like real_function, but NULL where there is none. */
HIDDEN void* find_real_function(uint32_t row);

/* `function` is what lookups of the row gave without us: it is what the hook calls from now on. */
HIDDEN void set_real_function(uint32_t row, void* function);

/* driver_entries.c */

/* Whether `address` is the very function that the row stands for, in the library that the row is
 * about: libcuda (or libc10 for PyTorch's rows). */
HIDDEN bool is_entry_of_row(uint32_t row, const void* address);

/* The row of an address that cuGetProcAddress returned for `base`, or -1. */
HIDDEN int find_row_of_address(const char* base, const void* address);

/* deepbind.c */

/* The target of the exported dlopen's jump. Valid after shim_dlopen(). */
extern HIDDEN void* (*next_dlopen)(const char* name, int mode);

HIDDEN void say_deepbind_where_cuda_is_used(void);

/* core_loader.c */

/* Called by the lazy stubs: where the row's trampoline must jump now. */
HIDDEN void* shim_first_call(uint32_t row);

/* unloads.c, which also exports dlclose. See ShimServices. */
HIDDEN void watch_unloads(uint64_t* counter);

/* resolvers.c: the wrappers of the resolver rows. */
HIDDEN void* resolver_wrapper(uint32_t row);
