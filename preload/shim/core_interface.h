/* The seam between the shim (libvramscope.so, C) and the core (libvramscope_core.so, C++).
 *
 * The shim dlopens the core at the first hooked call and calls its only export once or more:
 *
 *   int vramscope_core_attach(const struct ShimServices* shim, void* wrappers[HOOK_ROW_COUNT])
 *
 * The core puts the address of its wrapper into wrappers[row] for every row that it wraps, and
 * returns 0; any other value means that the two do not belong together and nothing is recorded.
 * Several threads may call it at the same time; each call writes the same values. A wrapper has the
 * signature of the entry point and is entered by a jump: the return address is the application's.
 *
 * The other export is for libvramscope_nvtx.so, which needs no shim: it hands on what NVTX gave to
 * InitializeInjectionNvtx2, and returns what that returns (0: no tool).
 *
 *   int vramscope_core_nvtx(const void* (*get_export_table)(uint32_t id))
 */
#pragma once

#include <stdint.h>

#define CORE_LIBRARY_NAME "libvramscope_core.so"
#define CORE_ATTACH_NAME "vramscope_core_attach"
#define CORE_NVTX_NAME "vramscope_core_nvtx"

/* What the shim does for the core. Immortal. Any thread may call these at any time. */
struct ShimServices {
  uint32_t table_id; /* HOOK_TABLE_ID of the shim: both must be made from one hook table */
  uint32_t row_count;

  /* The function behind the hook: what would have been called without us. Never NULL: where there
   * is none, a function that fails with CUDA_ERROR_STUB_LIBRARY (driver) or does nothing
   * (PyTorch). */
  void* (*real_function)(uint32_t row);

  /* A symbol of a library that is loaded already, by file name (such as libcuda.so.1); NULL if
   * either is missing. Loads nothing. Takes the dynamic linker's lock. */
  void* (*loaded_symbol)(const char* library, const char* symbol);

  /* How many hooked driver calls the calling thread is inside of. Kept by the shim because a
   * library that is loaded at start has thread-local storage that never needs an allocation. */
  int* (*call_depth)(void);

  /* From now on *counter grows whenever dlclose() has unloaded something. Takes the dynamic
   * linker's lock. */
  void (*watch_unloads)(uint64_t* counter);
};

typedef int (*CoreAttach)(const struct ShimServices* shim, void** wrappers);
typedef int (*CoreNvtx)(const void* (*get_export_table)(uint32_t id));
