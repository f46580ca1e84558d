// A program that looks each driver function up by name in a libcuda that it loads itself.
#include <dlfcn.h>

#include <cstdlib>

#include "driver_calls.h"

struct ByName {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  template <auto* kFunction>
  auto* find(const char* symbol) {
    void* address = driver != nullptr ? dlsym(driver, symbol) : nullptr;
    const char* message = dlerror();
    if (address == nullptr || message != nullptr) {
      std::printf("%s: %s\n", symbol, message != nullptr ? message : "found, but not a function");
      std::exit(1);
    }
    return reinterpret_cast<decltype(kFunction)>(address);
  }
};

int main() {
  ByName route;
  return driver_calls::make_all_calls(route);
}
