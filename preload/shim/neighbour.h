/* Libraries of ours lie in one folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where `name` lies beside the library that `address` is in: false if that is unknown or too long.
 * The linker remembers a library's folder from when it loaded it: a relative LD_PRELOAD stays right
 * after chdir. */
__attribute__((visibility("hidden"))) bool path_beside(const void* address, const char* name,
                                                       char* path, size_t size);

#ifdef __cplusplus
}
#endif
