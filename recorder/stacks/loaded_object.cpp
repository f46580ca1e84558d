#include "recorder/stacks/loaded_object.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace vramscope {
namespace {

#ifdef DLFO_STRUCT_HAS_EH_DBASE  // glibc 2.35 declares it; an older one may still run the library
using FindObject = int (*)(void*, dl_find_object*);

// nullptr with an older glibc. Looked up once; no guarded static, whose waiters would close a
// circle with the loader's lock when a constructor of a library being loaded comes here.
FindObject find_object_of_glibc() {
  static constinit std::atomic<bool> is_known{false};
  static constinit std::atomic<FindObject> function{nullptr};
  if (!is_known.load(std::memory_order_acquire)) {
    function.store(reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object")),
                   std::memory_order_relaxed);
    is_known.store(true, std::memory_order_release);
  }
  return function.load(std::memory_order_relaxed);
}

bool find_without_lock(FindObject find_object, uintptr_t address, LoadedObject& object) {
  dl_find_object found;
  if (find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  object.begin = reinterpret_cast<uintptr_t>(found.dlfo_map_start);
  object.end = reinterpret_cast<uintptr_t>(found.dlfo_map_end);
  object.bias = found.dlfo_link_map->l_addr;
  object.name = found.dlfo_link_map->l_name;
  object.handle = found.dlfo_link_map;
  return true;
}
#endif

struct Search {
  uintptr_t address;
  LoadedObject* object;
};

int visit_object(dl_phdr_info* info, size_t, void* argument) {
  const auto& search = *static_cast<Search*>(argument);
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min(begin, info->dlpi_addr + segment.p_vaddr);
    end = std::max(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  const uintptr_t page = static_cast<uintptr_t>(getpagesize());
  const LoadedObject object{begin & -page, end, info->dlpi_addr, info->dlpi_name, nullptr};
  if (begin >= end || !object.contains(search.address)) return 0;
  *search.object = object;
  return 1;
}

// Build-id in the notes [begin, end); empty if it is not there.
std::span<const std::byte> find_build_id(const std::byte* begin, const std::byte* end) {
  const auto aligned = [](size_t bytes) { return (bytes + 3) & ~size_t{3}; };
  while (static_cast<size_t>(end - begin) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, begin, sizeof note);
    const std::byte* name = begin + sizeof note;
    const size_t room = static_cast<size_t>(end - name);
    const size_t name_bytes = aligned(note.n_namesz);
    if (name_bytes > room || aligned(note.n_descsz) > room - name_bytes) return {};
    const std::byte* description = name + name_bytes;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      return {description, note.n_descsz};
    }
    begin = description + aligned(note.n_descsz);
  }
  return {};
}

}  // namespace

bool find_loaded_object(uintptr_t address, LoadedObject& object) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  if (const FindObject find_object = find_object_of_glibc()) {
    return find_without_lock(find_object, address, object);
  }
#endif
  return find_loaded_object_by_iteration(address, object);
}

bool find_loaded_object_by_iteration(uintptr_t address, LoadedObject& object) {
  Search search{address, &object};
  return dl_iterate_phdr(&visit_object, &search) != 0;
}

std::span<const std::byte> build_id_of(const LoadedObject& object) {
  // The first page of every normal object holds its ELF header and program headers.
  const auto* image = reinterpret_cast<const std::byte*>(object.begin);
  ElfW(Ehdr) header;
  std::memcpy(&header, image, sizeof header);
  const size_t image_bytes = object.end - object.begin;
  const size_t table_bytes = header.e_phnum * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phoff > image_bytes ||
      table_bytes > image_bytes - header.e_phoff) {
    return {};
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, image + header.e_phoff + i * sizeof segment, sizeof segment);
    const uintptr_t begin = object.bias + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || !object.contains(begin) ||
        segment.p_memsz > object.end - begin) {
      continue;
    }
    const auto* notes = reinterpret_cast<const std::byte*>(begin);
    const std::span<const std::byte> id = find_build_id(notes, notes + segment.p_memsz);
    if (!id.empty()) return id;
  }
  return {};
}

std::string path_of(const LoadedObject& object) {
  char path[PATH_MAX];
  if (object.name[0] == '\0') {
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
  }
  const bool is_relative = object.name[0] != '/' && std::strchr(object.name, '/') != nullptr;
  if (is_relative && realpath(object.name, path) != nullptr) return path;
  return object.name;
}

}  // namespace vramscope
