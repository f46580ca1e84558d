// The modules that native stacks lie in.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "recorder/code_unloads.h"
#include "recorder/stacks/loaded_object.h"
#include "tests/unit/stacks_call_chain.h"

namespace vramscope {
namespace {

struct Module {
  uint32_t id;
  ModuleDefinition range;
  std::string build_id;
  std::string path;
};

std::vector<Module> modules_of(const CollectingSink& sink) {
  std::vector<Module> modules;
  for (const CollectedDefinition& definition : sink.of_kind(RecordKind::kModule)) {
    Module module{.id = definition.id, .range = {}, .build_id = {}, .path = {}};
    std::memcpy(&module.range, definition.payload.data(), sizeof module.range);
    const std::string tail = definition.payload.substr(sizeof module.range);
    module.build_id = tail.substr(0, module.range.build_id_bytes);
    module.path = tail.substr(module.range.build_id_bytes);
    EXPECT_EQ(module.path.size(), module.range.path_bytes);
    modules.push_back(module);
  }
  return modules;
}

const Module* covering(const std::vector<Module>& modules, uint64_t address) {
  const Module* result = nullptr;
  for (const Module& module : modules) {
    if (address >= module.range.begin && address < module.range.end) result = &module;
  }
  return result;
}

// What readelf says, as hexadecimal digits.
std::string build_id_by_readelf(const std::string& path) {
  const std::string command = "readelf -n '" + path + "' 2>/dev/null";
  FILE* output = popen(command.c_str(), "r");
  char line[256];
  std::string id;
  while (fgets(line, sizeof line, output) != nullptr) {
    if (const char* found = std::strstr(line, "Build ID: ")) id = found + std::strlen("Build ID: ");
  }
  pclose(output);
  return id.substr(0, id.find_last_not_of("\n ") + 1);
}

std::string hexadecimal(const std::string& bytes) {
  std::string digits;
  for (const unsigned char byte : bytes) {
    char pair[3];
    snprintf(pair, sizeof pair, "%02x", byte);
    digits += pair;
  }
  return digits;
}

TEST(Modules, EveryFrameLiesInADefinedModule) {
  Probe probe;
  call_nested(probe, 1);
  const std::vector<Module> modules = modules_of(probe.sink);
  for (const uint64_t address : probe.frames()) {
    const Module* module = covering(modules, address);
    ASSERT_NE(module, nullptr) << std::hex << address;
    Dl_info info;
    link_map* map = nullptr;
    ASSERT_NE(dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map),
                      RTLD_DL_LINKMAP),
              0);
    EXPECT_EQ(module->range.bias, map->l_addr);
    EXPECT_EQ(module->range.begin, reinterpret_cast<uint64_t>(info.dli_fbase));
    EXPECT_TRUE(std::filesystem::equivalent(module->path, info.dli_fname)) << module->path;
    const std::string build_id = build_id_by_readelf(module->path);
    EXPECT_EQ(hexadecimal(module->build_id), build_id) << module->path;
    EXPECT_FALSE(build_id.empty());
  }
  EXPECT_EQ(covering(modules, probe.expected[0])->path,
            std::filesystem::read_symlink("/proc/self/exe"));
}

TEST(Modules, AreDefinedBeforeTheStackAndOnce) {
  Probe probe;
  for (int depth = 0; depth < 20; ++depth) call_nested(probe, depth);
  const std::vector<Module> modules = modules_of(probe.sink);
  EXPECT_EQ(probe.sink.of_kind(RecordKind::kNativeStack).size(), 20u);
  EXPECT_LE(modules.size(), 3u);  // this program, libc, perhaps a GoogleTest library
  for (size_t i = 0; i < modules.size(); ++i) {
    EXPECT_EQ(probe.sink.definitions[i].kind, RecordKind::kModule);
  }
}

TEST(Modules, BothWaysOfLookingAgree) {
  const uintptr_t addresses[] = {
      reinterpret_cast<uintptr_t>(&modules_of),
      reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "qsort")),
      reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "_Unwind_Backtrace")),
      static_cast<uintptr_t>(getauxval(AT_SYSINFO_EHDR)) + 64,  // the vdso
  };
  for (const uintptr_t address : addresses) {
    LoadedObject a;
    LoadedObject b;
    ASSERT_TRUE(find_loaded_object(address, a));
    ASSERT_TRUE(find_loaded_object_by_iteration(address, b));
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ((a.end + 4095) & ~uintptr_t{4095}, (b.end + 4095) & ~uintptr_t{4095});
    EXPECT_EQ(a.bias, b.bias);
    EXPECT_STREQ(a.name, b.name);
    EXPECT_TRUE(a.contains(address));
    EXPECT_FALSE(build_id_of(a).empty()) << path_of(a);
  }
}

TEST(Modules, HeapAndNullBelongToNone) {
  const auto memory = std::make_unique<char[]>(1 << 20);
  for (const uintptr_t address :
       {uintptr_t{0}, reinterpret_cast<uintptr_t>(memory.get()), UINTPTR_MAX, uintptr_t{4096}}) {
    LoadedObject object;
    EXPECT_FALSE(find_loaded_object(address, object)) << address;
    EXPECT_FALSE(find_loaded_object_by_iteration(address, object)) << address;
  }
}

using CallBack = void (*)(void (*)(void*), void*);

void capture_in_callback(void* probe) {
  static_cast<Probe*>(probe)->hook();
  not_a_tail_call();
}

// Loads the library, captures below it, closes it; where it lay.
uintptr_t capture_below(const char* library, Probe& probe) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) {
    ADD_FAILURE() << dlerror();
    return 0;
  }
  const auto call_back = reinterpret_cast<CallBack>(dlsym(handle, "call_back"));
  call_back(&capture_in_callback, &probe);
  link_map* map = nullptr;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  const uintptr_t where = map->l_addr;
  dlclose(handle);
  code_unloads.fetch_add(1);  // as the hook of dlclose() does
  return where;
}

TEST(Modules, LibraryLoadedOverAClosedOneGetsStacksOfItsOwn) {
  Probe probe;
  std::vector<uint32_t> ids;
  std::vector<std::string> paths;
  std::vector<uintptr_t> where;
  for (const char* library : {RELOADED_LIBRARY_A, RELOADED_LIBRARY_B, RELOADED_LIBRARY_A}) {
    where.push_back(capture_below(library, probe));
    ids.push_back(probe.id);
    const uint64_t frame_in_library = probe.frames().at(1);
    paths.push_back(covering(modules_of(probe.sink), frame_in_library)->path);
  }
  if (where[0] != where[1] || where[1] != where[2]) {
    GTEST_SKIP() << "the loader chose other addresses: nothing to tell apart";
  }
  EXPECT_EQ(paths,
            (std::vector<std::string>{RELOADED_LIBRARY_A, RELOADED_LIBRARY_B, RELOADED_LIBRARY_A}));
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[1], ids[2]);
}

}  // namespace
}  // namespace vramscope
