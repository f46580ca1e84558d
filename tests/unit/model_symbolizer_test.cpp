#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/model/symbolizer.h"

namespace vramscope {
namespace {

struct Outer {
  struct Inner {
    [[gnu::noinline]] static const void* here(int) { return __builtin_return_address(0); }
  };
};

// The line of the call must be the one that `kCallLine` names; the address is one of the next.
const int kCallLine = __LINE__ + 2;
[[gnu::noinline]] const void* caller_of_here() {
  const void* address = Outer::Inner::here(1);
  asm volatile("" : : "r"(address));
  return address;
}

SymbolModule make_module(uint64_t bias, const std::string& path) {
  SymbolModule module;
  module.bias = bias;
  module.path = path;
  return module;
}

// The loaded object that `address` lies in.
SymbolModule module_of(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return make_module(map->l_addr, std::filesystem::canonical(info.dli_fname));
}

SymbolModule own_module() { return module_of(reinterpret_cast<void*>(&module_of)); }

CodeAddress in_module(const void* address, uint32_t module) {
  return {reinterpret_cast<uintptr_t>(address), module};
}

TEST(Symbolizer, NamesFunctionFileAndLineOfTheCall) {
  const SymbolModule module = own_module();
  const CodeAddress address = in_module(caller_of_here(), 0);
  const auto frames = symbolize({&module, 1}, {&address, 1});
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "vramscope::(anonymous namespace)::caller_of_here()");
  EXPECT_TRUE(frames[0].file.starts_with('/')) << frames[0].file;
  EXPECT_TRUE(frames[0].file.ends_with("/tests/unit/model_symbolizer_test.cpp")) << frames[0].file;
  EXPECT_EQ(frames[0].line, static_cast<uint32_t>(kCallLine));
}

TEST(Symbolizer, FindsFunctionsOfAStrippedLibraryByItsDynamicSymbols) {
  const void* lfind_address = dlsym(RTLD_DEFAULT, "lfind");
  const SymbolModule module = module_of(lfind_address);
  const CodeAddress address = in_module(static_cast<const char*>(lfind_address) + 1, 0);
  EXPECT_EQ(symbolize({&module, 1}, {&address, 1})[0].function, "lfind");
}

TEST(Symbolizer, ReturnAddressAfterTheLastInstructionBelongsToTheCaller) {
  // The byte before lfind is padding or another function: never lfind.
  const void* begin = dlsym(RTLD_DEFAULT, "lfind");
  const SymbolModule module = module_of(begin);
  const CodeAddress address = in_module(begin, 0);
  EXPECT_NE(symbolize({&module, 1}, {&address, 1})[0].function, "lfind");
}

TEST(Symbolizer, WrongBuildIdGivesTheOffset) {
  SymbolModule module = own_module();
  module.build_id = "not this one";
  module.bias = 0x1000;
  const CodeAddress address{0x1234 + 0x1000, 0};
  const auto frame = symbolize({&module, 1}, {&address, 1})[0];
  EXPECT_EQ(frame.function, "model_symbolizer_test+0x1234");
  EXPECT_EQ(frame.file, "");
  EXPECT_EQ(frame.line, 0u);
}

TEST(Symbolizer, FilesThatAreNoneGiveTheOffset) {
  const std::string folder = testing::TempDir() + "symbolizer_test/";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "text") << "not an ELF file";
  std::ofstream(folder + "empty") << "";
  std::ofstream(folder + "cut") << std::string(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  unlink((folder + "pipe").c_str());
  ASSERT_EQ(mkfifo((folder + "pipe").c_str(), 0600), 0);
  std::vector<SymbolModule> modules;
  std::vector<CodeAddress> addresses;
  for (const char* name : {"text", "empty", "cut", "pipe", "missing"}) {
    addresses.push_back({0x10, static_cast<uint32_t>(modules.size())});
    modules.push_back(make_module(0, folder + name));
  }
  modules.push_back(make_module(0, folder));
  addresses.push_back({0x10, 5});
  std::vector<std::string> names;
  for (const auto& frame : symbolize(modules, addresses)) names.push_back(frame.function);
  EXPECT_EQ(names, (std::vector<std::string>{"text+0x10", "empty+0x10", "cut+0x10", "pipe+0x10",
                                             "missing+0x10", "+0x10"}));
}

TEST(Symbolizer, AddressesOutsideAnyModuleStayNumbers) {
  const SymbolModule module = own_module();
  const CodeAddress addresses[] = {{0x7f0012345678, kNoModule}, {0xabc, 7}, {0, kNoModule}};
  const auto frames = symbolize({&module, 1}, addresses);
  EXPECT_EQ(frames[0].function, "0x7f0012345678");
  EXPECT_EQ(frames[1].function, "0xabc");
  EXPECT_EQ(frames[2].function, "0x0");
}

TEST(Symbolizer, KeepsTheOrderWithManyModulesAndRepeatedAddresses) {
  const SymbolModule own = own_module();
  const std::vector<SymbolModule> modules(9, own);
  const void* known = caller_of_here();
  std::vector<CodeAddress> addresses;
  for (uint32_t i = 0; i < 900; ++i) {
    addresses.push_back(i % 10 == 9 ? CodeAddress{i, kNoModule} : in_module(known, i % 9));
  }
  for (const unsigned threads : {0u, 1u, 4u}) {
    const auto frames = symbolize(modules, addresses, threads);
    ASSERT_EQ(frames.size(), 900u);
    EXPECT_EQ(frames[9].function, "0x9");
    EXPECT_EQ(frames[899].function, "0x383");
    for (uint32_t i = 0; i < 900; ++i) {
      if (i % 10 != 9) {
        ASSERT_EQ(frames[i].line, static_cast<uint32_t>(kCallLine)) << i;
      }
    }
  }
}

TEST(Symbolizer, NothingGivesNothing) { EXPECT_TRUE(symbolize({}, {}).empty()); }

}  // namespace
}  // namespace vramscope
