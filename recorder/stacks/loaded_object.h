// The ELF object (program, library, vdso) that an address of the process lies in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vramscope {

struct LoadedObject {
  uintptr_t begin = 0;  // of the whole mapping, page-aligned
  uintptr_t end = 0;
  uintptr_t bias = 0;            // address in memory - address in the file
  const char* name = nullptr;    // the loader's: "" for the program; valid while it is loaded
  const void* handle = nullptr;  // the loader's own record of it, or nullptr

  bool contains(uintptr_t address) const { return address - begin < end - begin; }
};

// False if no object holds the address (JIT code). With glibc 2.35 and later lock-free
// (_dl_find_object); before, it takes the loader's lock (dl_iterate_phdr).
bool find_loaded_object(uintptr_t address, LoadedObject& object);

// The same by dl_iterate_phdr; public for its test.
bool find_loaded_object_by_iteration(uintptr_t address, LoadedObject& object);

// The object's NT_GNU_BUILD_ID, read from the mapped notes; empty if it has none.
std::span<const std::byte> build_id_of(const LoadedObject& object);

// Absolute path of the object's file; for the vdso the name that it goes by.
std::string path_of(const LoadedObject& object);

}  // namespace vramscope
