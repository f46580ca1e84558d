/* What the shim exports itself, and so must not define here. */
#include "preload/old_glibc/older_versions.inc"

older dlclose, GLIBC_2.2.5
older dlopen, GLIBC_2.2.5
older dlsym, GLIBC_2.2.5
