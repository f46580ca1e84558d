/* What glibc 2.28 does not have and our code, libstdc++.a or libgcc_eh.a refers to. Hidden: each
 * library that is linked with this has its own. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 2.30 */
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

/* 2.32. "Perhaps there are other threads" is always right. */
char __libc_single_threaded = 0;

/* 2.33. On x86-64 the kernel's structure is the C library's. */
int stat64(const char* path, struct stat64* result) { return (int)syscall(SYS_stat, path, result); }
int fstat64(int descriptor, struct stat64* result) {
  return (int)syscall(SYS_fstat, descriptor, result);
}

/* 2.36. std::random_device's; nothing here draws random numbers for secrets. */
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
  }
  return number;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/* 2.35. libgcc's unwinder finds the unwind tables of an address with it. */

typedef int (*FindObject)(void*, struct dl_find_object*);

struct Search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int visit_object(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  const struct Search* search = argument;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  const ElfW(Phdr)* tables = NULL;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const uintptr_t address = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = segment;
    if (segment->p_type != PT_LOAD) continue;
    if (address < begin) begin = address;
    if (address + segment->p_memsz > end) end = address + segment->p_memsz;
  }
  if (search->address - begin >= end - begin) return 0;
  if (tables == NULL) return -1;
  *search->result = (struct dl_find_object){
      .dlfo_map_start = (void*)begin,
      .dlfo_map_end = (void*)end,
      .dlfo_eh_frame = (void*)(info->dlpi_addr + tables->p_vaddr),
  };
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  static FindObject of_glibc;
  static int is_known;
  if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&of_glibc, (FindObject)dlsym(RTLD_DEFAULT, "_dl_find_object"),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  }
  const FindObject find_object = __atomic_load_n(&of_glibc, __ATOMIC_RELAXED);
  if (find_object != NULL) return find_object(address, result);
  struct Search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit_object, &search) == 1 ? 0 : -1;
}
#endif
