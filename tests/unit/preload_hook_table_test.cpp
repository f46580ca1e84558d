// The table of hooked entry points against cuda.h: which memory entry points does it leave out?
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "api.h"

namespace vramscope {
namespace {

std::string cuda_header() {
  std::ifstream file(CUDA_HEADER);
  EXPECT_TRUE(file) << CUDA_HEADER;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every symbol that programs can call: each declaration as cuda.h's renaming macros export it.
std::set<std::string> exported_symbols() {
  const std::string text = cuda_header();
  std::set<std::string> symbols;
  const std::regex declaration(R"(CUDAAPI\s+(cu[A-Z]\w*)\s*\()");
  const std::regex rename(R"(#define\s+(cu[A-Z]\w*)\s+(cu[A-Z]\w*)\s)");
  const std::regex per_thread(R"(#define\s+cu[A-Z]\w*\s+__CUDA_API_PTSZ\((cu[A-Z]\w*)\))");
  const auto collect = [&](const std::regex& pattern, int group, const std::string& suffix) {
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
         ++match) {
      symbols.insert((*match)[group].str() + suffix);
    }
  };
  collect(declaration, 1, "");
  collect(rename, 2, "");
  collect(per_thread, 1, "_ptsz");
  return symbols;
}

// Names that belong to the groups that are hooked.
const std::regex kMemoryGroups(
    "cu(Mem[A-Z]|Multicast|Array|Mipmapped|Ipc|ImportExternalMemory|ExternalMemory|"
    "DestroyExternalMemory|CtxCreate|CtxDestroy|DevicePrimaryCtx|GreenCtx|ModuleLoad|ModuleUnload|"
    "LibraryLoad|LibraryUnload|GraphAddMem|GraphAddNode|GraphMem|DeviceGraphMem|DeviceGetMemPool|"
    "DeviceSetMemPool|DeviceGetDefaultMemPool|GetProcAddress)\\w*");

// Those among them that neither take nor give memory, nor change what it is.
const std::regex kNotMemory(
    "cu(Memset|Mem(Advise|Prefetch|Discard|DiscardAndPrefetch|Decompress|BatchDecompress)\\w*|"
    "Mem(GetInfo|GetAddressRange|GetAccess|GetAllocationGranularity|"
    "GetAllocationPropertiesFromHandle|GetHandleForAddressRange|RangeGetAttributes?|"
    "HostGetDevicePointer|HostGetFlags|PoolGetAttribute|PoolGetAccess|PoolSetAccess)|"
    "Multicast(GetGranularity)|Array3?D?Get\\w+|MipmappedArrayGet\\w+|"
    "Ipc(Get|Open)EventHandle|DevicePrimaryCtx(GetState|SetFlags)|"
    "GreenCtx(GetDevResource|GetId|RecordEvent|WaitEvent|StreamCreate)|"
    // An inline function of the header.
    "GetProcAddress_v2_ptsz|"
    "GraphAddMem(cpy|set)Node|GraphMem(cpy|set|Alloc|Free)Node(Get|Set)Params)(_v\\d+)?(_ptsz)?");

TEST(PreloadHookTable, CoversEveryMemoryEntryPointOfTheHeader) {
  const std::set<std::string> hooked(std::begin(kApiNames), std::end(kApiNames));
  int covered = 0;
  for (const std::string& symbol : exported_symbols()) {
    if (!std::regex_match(symbol, kMemoryGroups) || std::regex_match(symbol, kNotMemory)) continue;
    EXPECT_TRUE(hooked.contains(symbol)) << symbol << " of " CUDA_HEADER " is not hooked";
    ++covered;
  }
  EXPECT_GE(covered, 90);
}

TEST(PreloadHookTable, HooksNothingThatTheHeaderDoesNotHave) {
  const std::set<std::string> exported = exported_symbols();
  for (uint16_t api = 0; api < kApiCount; ++api) {
    const bool newer_than_13_0 = std::string(kApiNames[api]).starts_with("cuMulticastBind") &&
                                 std::string(kApiNames[api]).ends_with("_v2");
    const bool is_pytorch = std::string(kApiNames[api]).starts_with("_Z");
    if (is_pytorch || newer_than_13_0) continue;
    EXPECT_TRUE(exported.contains(kApiNames[api])) << kApiNames[api];
  }
}

}  // namespace
}  // namespace vramscope
