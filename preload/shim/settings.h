/* What the libraries in the job ask the environment before the core is there. */
#pragma once

#include <stdbool.h>

/* VRAMSCOPE_DISABLE is set to anything but "" and "0". Read once; allocates nothing. */
__attribute__((visibility("hidden"))) bool is_disabled(void);

/* One line on stderr, unless VRAMSCOPE_LOG=off. */
__attribute__((visibility("hidden"))) void warn(const char* subject, const char* what,
                                                const char* hint);
