#include "recorder/stacks/libgcc_unwinder.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>

// libgcc's (unwind-dw2-fde.h, which is not installed): the second argument receives where the
// function begins.
struct dwarf_eh_bases {
  void* text;
  void* data;
  void* function;
};
extern "C" const void* _Unwind_Find_FDE(void* address, dwarf_eh_bases* bases);

namespace vramscope {
namespace {

// A context belongs to the library that made it: all functions must come from the same one.
struct Unwinder {
  decltype(&_Unwind_Backtrace) backtrace;
  decltype(&_Unwind_GetIPInfo) get_ip;
  decltype(&_Unwind_Find_FDE) find_fde;
};
constexpr Unwinder kLinkedUnwinder{&_Unwind_Backtrace, &_Unwind_GetIPInfo, &_Unwind_Find_FDE};

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve(void* library, Unwinder& unwinder) {
  return resolve(library, "_Unwind_Backtrace", unwinder.backtrace) &&
         resolve(library, "_Unwind_GetIPInfo", unwinder.get_ip) &&
         resolve(library, "_Unwind_Find_FDE", unwinder.find_fde);
}

// JIT compilers register their frames (__register_frame) with the libgcc_s of the process, not with
// the copy linked into this library; so the process's one is used if it is there. Often it is
// loaded RTLD_LOCAL, with an extension module.
bool find_shared_unwinder(Unwinder& unwinder) {
  if (resolve(RTLD_DEFAULT, unwinder)) return true;
  void* library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr && resolve(library, unwinder);  // never closed: it must stay
}

// Looked up by the first thread that asks; others use the linked one until it is done. No lock: the
// loader's may be held by who would wait for us.
const Unwinder& unwinder() {
  static constinit std::atomic<const Unwinder*> chosen{&kLinkedUnwinder};
  static constinit std::atomic<bool> is_looked_up{false};
  static constinit Unwinder shared = kLinkedUnwinder;
  if (!is_looked_up.load(std::memory_order_relaxed) && !is_looked_up.exchange(true)) {
    Unwinder found = kLinkedUnwinder;
    if (find_shared_unwinder(found)) {
      shared = found;
      chosen.store(&shared, std::memory_order_release);
    }
  }
  return *chosen.load(std::memory_order_acquire);
}

struct Walk {
  const Unwinder& unwinder;
  uintptr_t first;
  std::span<uint64_t> return_addresses;
  NativeWalk result;
};

_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  int is_interrupted = 0;
  const uintptr_t address = walk.unwinder.get_ip(context, &is_interrupted);
  if (address == 0) return _URC_NO_REASON;
  if (walk.result.count == 0 && address != walk.first)
    return _URC_NO_REASON;  // still in our frames
  if (walk.result.count == walk.return_addresses.size()) {
    walk.result.truncated = true;
    return _URC_NORMAL_STOP;
  }
  walk.return_addresses[walk.result.count++] = address + (is_interrupted != 0 ? 1 : 0);
  return _URC_NO_REASON;
}

}  // namespace

NativeWalk walk_by_libgcc(const CallSite& site, std::span<uint64_t> return_addresses) {
  Walk walk{unwinder(), site.program_counter, return_addresses, {}};
  walk.unwinder.backtrace(&visit_frame, &walk);
  if (walk.result.count == 0 && !return_addresses.empty()) {
    return_addresses[0] = site.program_counter;
    return {.count = 1, .truncated = true};
  }
  return walk.result;
}

FunctionDescription find_function_description(uint64_t address) {
  dwarf_eh_bases bases{};
  const void* fde = unwinder().find_fde(reinterpret_cast<void*>(address), &bases);
  return {static_cast<const uint8_t*>(fde), reinterpret_cast<uint64_t>(bases.function)};
}

bool is_readable_code(uint64_t return_address) {
  // The kernel looks at the set of signals before it refuses the operation.
  constexpr int kNoOperation = -1;
  constexpr size_t kSetBytes = sizeof(uint64_t);
  return syscall(SYS_rt_sigprocmask, kNoOperation, return_address, nullptr, kSetBytes) != 0 &&
         errno != EFAULT;
}

}  // namespace vramscope
