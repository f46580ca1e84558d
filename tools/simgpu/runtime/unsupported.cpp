#include "tools/simgpu/runtime/unsupported.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "tools/simgpu/runtime/runtime_state.h"

namespace {

struct NamedFunctions {
  std::mutex mutex;
  std::set<std::string> names;
};

/// Never destroyed: other libraries' destructors still call the runtime.
NamedFunctions& named_functions() {
  static auto* instance = new NamedFunctions;
  return *instance;
}

}  // namespace

int simgpu_unsupported_runtime_call(const char* function) {
  NamedFunctions& named = named_functions();
  {
    std::lock_guard lock(named.mutex);
    if (named.names.insert(function).second) {
      std::fprintf(stderr, "simgpu: %s is not supported by the simulated GPU (801)\n", function);
    }
  }
  return simgpu::runtime::record_error(cudaErrorNotSupported);
}
