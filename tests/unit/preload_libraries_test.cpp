// What the built libraries bring into a job: read from the files themselves.
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "api.h"
#include "tests/support/sanitizer.h"

namespace vramscope {
namespace {

using Names = std::set<std::string>;

// The dynamic section and the dynamic symbol table of a library.
class Library {
 public:
  explicit Library(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(descriptor_, ELF_C_READ, nullptr);
    EXPECT_NE(elf_, nullptr) << path;
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (header.sh_type == SHT_DYNAMIC) read_dynamic(section, header);
      if (header.sh_type == SHT_DYNSYM) read_symbols(section, header);
      if (header.sh_type == SHT_GNU_verneed) read_versions(section, header);
    }
  }
  ~Library() {
    elf_end(elf_);
    close(descriptor_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Names needed;
  Names exported;
  int newest_glibc = 0;  // the minor version of glibc 2 that it asks for
  bool has_run_path = false;
  bool binds_now = false;

 private:
  void read_dynamic(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Dyn entry;
      gelf_getdyn(data, static_cast<int>(i), &entry);
      if (entry.d_tag == DT_NEEDED) {
        needed.insert(elf_strptr(elf_, header.sh_link, entry.d_un.d_val));
      }
      has_run_path |= entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      binds_now |= entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW) != 0;
    }
  }

  void read_symbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    for (size_t i = 1; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      gelf_getsym(data, static_cast<int>(i), &symbol);
      if (symbol.st_shndx != SHN_UNDEF) {
        exported.insert(elf_strptr(elf_, header.sh_link, symbol.st_name));
      }
    }
  }

  // One entry for each library, which holds one for each version of it.
  void read_versions(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Verneed library;
    for (int offset = 0; gelf_getverneed(data, offset, &library) != nullptr;) {
      GElf_Vernaux version;
      int version_offset = offset + static_cast<int>(library.vn_aux);
      for (int i = 0; i < library.vn_cnt; ++i) {
        gelf_getvernaux(data, version_offset, &version);
        int minor = 0;
        const char* name = elf_strptr(elf_, header.sh_link, version.vna_name);
        const bool is_glibc = std::sscanf(name, "GLIBC_2.%d", &minor) == 1;
        EXPECT_TRUE(is_glibc || kIsSanitized) << name;
        newest_glibc = std::max(newest_glibc, minor);
        version_offset += static_cast<int>(version.vna_next);
      }
      if (library.vn_next == 0) break;
      offset += static_cast<int>(library.vn_next);
    }
  }

  int descriptor_;
  Elf* elf_;
};

// Programs that run with glibc 2.28 (RHEL 8; PyTorch's wheels ask for it too) can load all of them.
TEST(PreloadLibraries, AnOldGlibcSuffices) {
  if (kIsSanitized) GTEST_SKIP() << "a sanitizer's runtime needs the building machine's glibc";
  for (const char* path : {SHIM_LIBRARY, CORE_LIBRARY, CUPTI_LIBRARY, NVTX_LIBRARY}) {
    const Library library(path);
    EXPECT_GE(library.newest_glibc, 3) << path << ": dlinfo's version, if any was read";
    EXPECT_LE(library.newest_glibc, 28) << path;
  }
  // Where much of what they use is before 2.34.
  for (const char* path : {CORE_LIBRARY, CUPTI_LIBRARY}) {
    EXPECT_TRUE(Library(path).needed.contains("libdl.so.2")) << path;
    EXPECT_TRUE(Library(path).needed.contains("libpthread.so.0")) << path;
  }
}

TEST(PreloadLibraries, TheShimNeedsTheCLibraryAlone) {
  const Library shim(SHIM_LIBRARY);
  EXPECT_EQ(shim.needed, (Names{"libc.so.6", "libdl.so.2"}));
  EXPECT_FALSE(shim.has_run_path);
  EXPECT_TRUE(shim.binds_now);
}

TEST(PreloadLibraries, TheShimExportsTheHookedNamesAndTheLoadersOnes) {
  Names hooked(std::begin(kApiNames), std::end(kApiNames));
  EXPECT_TRUE(hooked.contains("cuGetProcAddress"));
  EXPECT_TRUE(hooked.contains("cuGetProcAddress_v2"));
  hooked.insert({"dlclose", "dlopen", "dlsym"});
  EXPECT_EQ(Library(SHIM_LIBRARY).exported, hooked);
}

TEST(PreloadLibraries, TheCoreExportsItsEntriesAlone) {
  EXPECT_EQ(Library(CORE_LIBRARY).exported,
            (Names{"vramscope_core_attach", "vramscope_core_nvtx"}));
}

TEST(PreloadLibraries, TheNvtxInjectionNeedsTheCLibraryAloneAndExportsItsEntry) {
  const Library injection(NVTX_LIBRARY);
  EXPECT_EQ(injection.needed, (Names{"libc.so.6", "libdl.so.2"}));
  EXPECT_EQ(injection.exported, Names{"InitializeInjectionNvtx2"});
  EXPECT_FALSE(injection.has_run_path);
  EXPECT_TRUE(injection.binds_now);
}

TEST(PreloadLibraries, TheCoreNeedsTheCLibraryAlone) {
  if (kIsSanitized) GTEST_SKIP() << "it needs a sanitizer's runtime, and libstdc++ as it is shared";
  const Names allowed = {"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0",
                         "ld-linux-x86-64.so.2"};
  const Library core(CORE_LIBRARY);
  for (const std::string& name : core.needed) EXPECT_TRUE(allowed.contains(name)) << name;
  EXPECT_TRUE(core.needed.contains("libc.so.6"));
  EXPECT_FALSE(core.has_run_path);
}

}  // namespace
}  // namespace vramscope
