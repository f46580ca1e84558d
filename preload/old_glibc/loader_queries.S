/* What is asked of the dynamic linker. */
#include "preload/old_glibc/older_versions.inc"

older dladdr, GLIBC_2.2.5
older dladdr1, GLIBC_2.3.3
older dlerror, GLIBC_2.2.5
older dlinfo, GLIBC_2.3.3
older dlvsym, GLIBC_2.2.5
