/* What would have been called without us. */
#include <dlfcn.h>
#include <link.h>

#include "preload/shim/shim.h"

void* (*next_dlsym)(void*, const char*) = NULL;
void* (*libc_dlsym)(void*, const char*) = NULL;

static void* real_functions[HOOK_ROW_COUNT];

/* We export the name ourselves; a version makes dlvsym pass over us and find libc's. */
static void* find_in_libc(const char* name) {
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  void* found = NULL;
  for (size_t i = 0; found == NULL && i < sizeof(versions) / sizeof(versions[0]); ++i) {
    found = dlvsym(RTLD_NEXT, name, versions[i]);
  }
  return found;
}

/* Another library that is preloaded behind us may override the name as well. */
void* find_next_symbol(const char* name) {
  find_dlsym();
  void* next = libc_dlsym(RTLD_NEXT, name);
  return next != NULL ? next : find_in_libc(name);
}

void find_dlsym(void) {
  if (__atomic_load_n(&next_dlsym, __ATOMIC_ACQUIRE) != NULL) return;
  void* found = find_in_libc("dlsym");
  __atomic_store_n(&libc_dlsym, (void* (*)(void*, const char*))found, __ATOMIC_RELAXED);
  void* next = libc_dlsym(RTLD_NEXT, "dlsym");
  if (next == NULL) next = found;
  __atomic_store_n(&next_dlsym, (void* (*)(void*, const char*))next, __ATOMIC_RELEASE);
}

struct link_map* library_of(const void* address) {
  Dl_info info;
  struct link_map* library = NULL;
  return dladdr1(address, &info, (void**)&library, RTLD_DL_LINKMAP) ? library : NULL;
}

void* handle_of(const struct link_map* library) {
  /* The link map itself is a handle only if the library was dlopened: others have no scope. */
  const char* name = *library->l_name != '\0' ? library->l_name : NULL;
  return dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
}

void* loaded_symbol(const char* library, const char* symbol) {
  find_dlsym();
  void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == NULL) return NULL;
  void* address = libc_dlsym(handle, symbol);
  dlclose(handle); /* Gives back the reference only: the application keeps its own. */
  return address;
}

void set_real_function(uint32_t row, void* function) {
  /* An interposer behind us that means its own function may answer with ours: in its code, too, the
   * name is bound to the first library that exports it. */
  if (function == hook_entries[row]) return;
  __atomic_store_n(&real_functions[row], function, __ATOMIC_RELAXED);
}

/* PyTorch's own functions must never be missing when they are called: some return objects. A build
 * of it may have them in a library of another name. */
static void* symbol_of_any_library(uint32_t row) {
  const struct link_map* ours = library_of(hook_entries);
  for (const struct link_map* map = ours != NULL ? ours->l_next : NULL; map; map = map->l_next) {
    void* handle = handle_of(map);
    if (handle == NULL) continue;
    void* found = libc_dlsym(handle, hook_rows[row].symbol);
    dlclose(handle);
    if (found != NULL && found != hook_entries[row]) return found;
  }
  return NULL;
}

void* find_real_function(uint32_t row) {
  void* function = __atomic_load_n(&real_functions[row], __ATOMIC_RELAXED);
  if (function != NULL) return function;
  find_dlsym();
  const struct HookRow* hook = &hook_rows[row];
  function = libc_dlsym(RTLD_NEXT, hook->symbol);
  /* Python extensions are loaded with RTLD_LOCAL, which RTLD_NEXT does not see. */
  if (function == NULL) {
    function = loaded_symbol(hook->library, hook->symbol);
  }
  if (function == NULL && hook->kind == HOOK_PYTORCH) function = symbol_of_any_library(row);
  if (function != NULL) set_real_function(row, function);
  return function;
}

/* CUDA_ERROR_STUB_LIBRARY: "the CUDA driver that the application has loaded is a stub library".
 * That is what we are to a program that found our symbol where no driver exposes it. */
static int fail_without_driver(void) { return 34; }

static void do_nothing(void) {}

void* real_function(uint32_t row) {
  void* function = find_real_function(row);
  if (function != NULL) return function;
  return hook_rows[row].kind == HOOK_PYTORCH ? (void*)do_nothing : (void*)fail_without_driver;
}
