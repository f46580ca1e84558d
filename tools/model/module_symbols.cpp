#include "tools/model/module_symbols.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>

namespace vramscope {
namespace {

const Dwfl_Callbacks& callbacks() {
  static char* no_own_path = nullptr;  // the standard places for separate debug files
  static const Dwfl_Callbacks result = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = &no_own_path,
  };
  return result;
}

// Paths come out of a recording: a device or a pipe must not be waited for. -1 if it is no file.
int open_regular_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(file);
    return -1;
  }
  return file;
}

// Global names before weak and local ones, then the shorter: f before __f_alias.
int rank_of(const GElf_Sym& symbol, const char* name) {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int group = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  constexpr int kLongestCompared = 1 << 16;
  return group * kLongestCompared +
         static_cast<int>(std::min<size_t>(std::strlen(name), kLongestCompared - 1));
}

// Compilers name files as they were called with, often relative to where they ran.
std::string absolute_path(const char* file, const char* compilation_folder) {
  if (file[0] == '/' || compilation_folder == nullptr) return file;
  return (std::filesystem::path(compilation_folder) / file).lexically_normal();
}

std::string demangle(const char* name) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = demangled != nullptr ? demangled : name;
  std::free(demangled);
  return result;
}

}  // namespace

void ModuleSymbols::CloseDwfl::operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }

ModuleSymbols::ModuleSymbols(const std::string& path, std::string_view build_id) {
  open(path, build_id);
  if (module_ != nullptr) read_functions();
}

void ModuleSymbols::open(const std::string& path, std::string_view build_id) {
  const int file = open_regular_file(path);
  if (file < 0) return;
  dwfl_.reset(dwfl_begin(&callbacks()));
  if (dwfl_ == nullptr) {
    close(file);
    return;
  }
  dwfl_report_begin(dwfl_.get());
  // Bias 0: addresses are the file's own. Takes the file over if it succeeds.
  Dwfl_Module* module =
      dwfl_report_elf(dwfl_.get(), path.c_str(), path.c_str(), file, 0, /*add_p_vaddr=*/true);
  if (module == nullptr) close(file);
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  if (module == nullptr) return;

  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int length = dwfl_module_build_id(module, &bytes, &address);
  const std::string_view of_file(reinterpret_cast<const char*>(bytes), std::max(length, 0));
  if (build_id.empty() || build_id == of_file) module_ = module;
}

void ModuleSymbols::read_functions() {
  const int count = dwfl_module_getsymtab(module_);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF ||
        (type != STT_FUNC && type != STT_GNU_IFUNC)) {
      continue;
    }
    functions_.push_back({address, address + symbol.st_size, name, rank_of(symbol, name)});
  }
  std::ranges::sort(functions_, [](const Function& a, const Function& b) {
    return std::tuple(a.begin, a.rank, std::string_view(a.name)) <
           std::tuple(b.begin, b.rank, std::string_view(b.name));
  });
  const auto same_begin = [](const Function& a, const Function& b) { return a.begin == b.begin; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same_begin), functions_.end());
  // Assembly often gives no size: such a function goes on to the next one.
  for (size_t i = 0; i + 1 < functions_.size(); ++i) {
    if (functions_[i].end == functions_[i].begin) functions_[i].end = functions_[i + 1].begin;
  }
}

std::string ModuleSymbols::function(uint64_t file_address) const {
  const auto after = std::ranges::upper_bound(functions_, file_address, {}, &Function::begin);
  if (after == functions_.begin()) return {};
  const Function& candidate = *std::prev(after);
  return file_address < candidate.end ? demangle(candidate.name) : std::string();
}

SourceLine ModuleSymbols::line(uint64_t file_address) const {
  if (module_ == nullptr) return {};
  Dwfl_Line* found = dwfl_module_getsrc(module_, file_address);
  if (found == nullptr) return {};
  int line = 0;
  const char* file = dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr);
  if (file == nullptr || line <= 0) return {};
  return {absolute_path(file, dwfl_line_comp_dir(found)), static_cast<uint32_t>(line)};
}

}  // namespace vramscope
