// Allocates where native stacks are hard to follow, and prints what _Unwind_Backtrace says of each
// allocation: "BYTES ADDRESS..." (in hexadecimal), from the caller of allocate_and_tell() outwards.
// Usage: native_program reload PLUGIN_A PLUGIN_B | jit
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unwind.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/integration/edges/edge_calls.h"

extern "C" void __register_frame(void* begin);
extern "C" void __deregister_frame(void* begin);

namespace {

_Unwind_Reason_Code print_frame(_Unwind_Context* context, void* frames_to_skip) {
  int& skipped = *static_cast<int*>(frames_to_skip);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (skipped-- <= 0 && address != 0) std::printf(" %lx", static_cast<unsigned long>(address));
  return _URC_NO_REASON;
}

[[gnu::noipa]] void allocate_and_tell(size_t bytes) {
  CUdeviceptr address = 0;
  edges::check(cuMemAlloc(&address, bytes), "cuMemAlloc");
  std::printf("%zx", bytes);
  int own_frames = 1;
  _Unwind_Backtrace(print_frame, &own_frames);
  std::printf("\n");
}

// Plugins whose code has the same size and whose frames have not, one after the other at the same
// addresses.
int reload(const char* const* plugins) {
  constexpr int kRounds = 6;
  ElfW(Addr) last_base = 0;
  int same_addresses = 0;
  for (int round = 0; round < kRounds; ++round) {
    void* plugin = dlopen(plugins[round % 2], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) std::abort();
    const ElfW(Addr) base = static_cast<link_map*>(plugin)->l_addr;
    same_addresses += base == last_base ? 1 : 0;
    last_base = base;
    using CallBack = void (*)(void (*)(size_t), size_t);
    const char* function = round % 2 == 0 ? "call_back_from_a" : "call_back_from_b";
    const auto call_back = reinterpret_cast<CallBack>(dlsym(plugin, function));
    for (int i = 0; i < 2; ++i) call_back(allocate_and_tell, 0x1000 + 2 * round + i);
    dlclose(plugin);
    if (dlopen(plugins[round % 2], RTLD_NOLOAD | RTLD_NOW) != nullptr) std::abort();
  }
  return same_addresses > 0 ? 0 : 3;
}

// Machine code in memory of its own: sub rsp, FRAME; nop; call *rdi; add rsp, FRAME; ret. Its
// frame has 8 + 16 * units bytes, and the call returns to the same address whatever that is.
void write_code(uint8_t* memory, uint8_t units) {
  const auto frame = static_cast<uint8_t>(8 + 16 * units);
  const uint8_t code[] = {0x48, 0x83, 0xec, frame, 0x90, 0xff, 0xd7, 0x48, 0x83, 0xc4, frame, 0xc3};
  std::memcpy(memory, code, sizeof code);
}

// Its .eh_frame: a CIE ("CFA is rsp + 8, the return address at CFA - 8"), an FDE for the code
// ("after 4 bytes rsp + 16 + 16 * units, after 7 more rsp + 8"), and the end.
std::vector<uint8_t> describe_code(const uint8_t* memory, uint8_t units) {
  std::vector<uint8_t> entries = {20,        0, 0, 0, 0, 0, 0, 0, 1,  0, 1, 0x78, 16, 12, 7, 8,
                                  0x80 | 16, 1, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0,    28, 0,  0, 0};
  const uint64_t range[] = {reinterpret_cast<uint64_t>(memory), 12};
  const auto* bytes = reinterpret_cast<const uint8_t*>(range);
  entries.insert(entries.end(), bytes, bytes + sizeof range);
  const auto cfa = static_cast<uint8_t>(16 + 16 * units);
  entries.insert(entries.end(), {0x44, 0x0e, cfa, 0x47, 0x0e, 8, 0, 0, 0, 0, 0, 0});
  return entries;
}

int call_jit_code() {
  auto* memory = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return 4;
  size_t bytes = 0x1000;
  for (const uint8_t units : {0, 3, 0, 5, 1}) {
    write_code(memory, units);
    std::vector<uint8_t> entries = describe_code(memory, units);
    __register_frame(entries.data());
    static size_t next_bytes;
    for (int i = 0; i < 2; ++i) {
      next_bytes = bytes++;
      reinterpret_cast<void (*)(void (*)())>(memory)([] {
        allocate_and_tell(next_bytes);
        asm volatile("");  // no jump
      });
    }
    __deregister_frame(entries.data());
  }
  std::printf("code %lx\n", reinterpret_cast<unsigned long>(memory));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  edges::use_device(0);
  if (argc == 4 && std::strcmp(argv[1], "reload") == 0) return reload(argv + 2);
  if (argc == 2 && std::strcmp(argv[1], "jit") == 0) return call_jit_code();
  return 2;
}
