#include "preload/old_glibc/older_versions.inc"

older __pthread_key_create, GLIBC_2.2.5
older pthread_attr_getstack, GLIBC_2.2.5
older pthread_attr_setstacksize, GLIBC_2.2.5
older pthread_create, GLIBC_2.2.5
older pthread_getattr_np, GLIBC_2.2.5
older pthread_getname_np, GLIBC_2.12
older pthread_join, GLIBC_2.2.5
older pthread_key_create, GLIBC_2.2.5
older pthread_mutex_trylock, GLIBC_2.2.5
older pthread_once, GLIBC_2.2.5
older pthread_rwlock_rdlock, GLIBC_2.2.5
older pthread_rwlock_unlock, GLIBC_2.2.5
older pthread_rwlock_wrlock, GLIBC_2.2.5
older pthread_setname_np, GLIBC_2.12
older pthread_setspecific, GLIBC_2.2.5
older pthread_sigmask, GLIBC_2.2.5
