// A program that asks the driver for its functions, as the CUDA runtime does.
// Usage: driver_by_get_proc_address v1|v2 FLAGS     FLAGS: 0, 1 (legacy stream) or 2 (per-thread)
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "driver_calls.h"

constexpr int kCudaVersion = 13000;

struct ByRequest {
  PFN_cuGetProcAddress_v11030 resolve = nullptr;
  PFN_cuGetProcAddress_v12000 resolve_v2 = nullptr;
  cuuint64_t flags = 0;

  // The resolver knows names without version suffix.
  static std::string base_name(std::string symbol) {
    const size_t suffix = symbol.rfind("_v");
    if (suffix != std::string::npos) symbol.erase(suffix);
    return symbol;
  }

  template <auto* kFunction>
  auto* find(const char* symbol) {
    const std::string name = base_name(symbol);
    void* address = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = resolve_v2 != nullptr
                                ? resolve_v2(name.c_str(), &address, kCudaVersion, flags, &status)
                                : resolve(name.c_str(), &address, kCudaVersion, flags);
    if (result != CUDA_SUCCESS || address == nullptr) {
      std::printf("%s: not found (%d, %d)\n", name.c_str(), result, status);
      std::exit(1);
    }
    return reinterpret_cast<decltype(kFunction)>(address);
  }
};

// The resolver's second version is found the way the runtime finds it: by asking the first one.
ByRequest make_route(bool second_version, cuuint64_t flags) {
  ByRequest route;
  route.flags = flags;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) std::exit(1);
  route.resolve = reinterpret_cast<PFN_cuGetProcAddress_v11030>(dlsym(driver, "cuGetProcAddress"));
  void* self = nullptr;
  if (second_version) {
    std::printf("resolver %d\n", route.resolve("cuGetProcAddress", &self, 12000, 0));
    route.resolve_v2 = reinterpret_cast<PFN_cuGetProcAddress_v12000>(self);
    // The probes that the runtime makes.
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    std::printf("probe %d\n", route.resolve_v2("", &self, kCudaVersion, flags, &status));
    std::printf("no status %d\n",
                route.resolve_v2("cuMemAlloc", &self, kCudaVersion, flags, nullptr));
    std::printf("unknown %d\n", route.resolve_v2("cuNoSuch", &self, kCudaVersion, flags, &status));
    std::printf("status %d\n", status);
  }
  return route;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s v1|v2 FLAGS\n", argv[0]);
    return 2;
  }
  ByRequest route = make_route(std::strcmp(argv[1], "v2") == 0, std::strtoull(argv[2], nullptr, 0));
  return driver_calls::make_all_calls(route);
}
