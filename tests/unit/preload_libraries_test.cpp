// What the built libraries bring into a job: read from the files themselves.
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

#include "api.h"

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

  int descriptor_;
  Elf* elf_;
};

TEST(PreloadLibraries, TheShimNeedsLibcAlone) {
  const Library shim(SHIM_LIBRARY);
  EXPECT_EQ(shim.needed, Names{"libc.so.6"});
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

TEST(PreloadLibraries, TheNvtxInjectionNeedsLibcAloneAndExportsItsEntry) {
  const Library injection(NVTX_LIBRARY);
  EXPECT_EQ(injection.needed, Names{"libc.so.6"});
  EXPECT_EQ(injection.exported, Names{"InitializeInjectionNvtx2"});
  EXPECT_FALSE(injection.has_run_path);
  EXPECT_TRUE(injection.binds_now);
}

TEST(PreloadLibraries, TheCoreNeedsTheCLibraryAlone) {
  const Names allowed = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"};
  const Library core(CORE_LIBRARY);
  for (const std::string& name : core.needed) EXPECT_TRUE(allowed.contains(name)) << name;
  EXPECT_TRUE(core.needed.contains("libc.so.6"));
  EXPECT_FALSE(core.has_run_path);
}

}  // namespace
}  // namespace vramscope
