// Loads two libraries in turn, each where the other one may have been, and lets each take memory.
// Usage: reload_program LIBMINE LIBNCCL
#include <dlfcn.h>

#include "tests/integration/edges/edge_calls.h"

namespace {

void take_and_unload(const char* path, const char* function, size_t bytes) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::abort();
  reinterpret_cast<void (*)(size_t)>(dlsym(library, function))(bytes);
  if (dlclose(library) != 0 || dlopen(path, RTLD_NOLOAD | RTLD_NOW) != nullptr) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  edges::use_device(0);
  for (int round = 0; round < 3; ++round) {
    take_and_unload(argv[1], "mine_take_linear", edges::kMiB);
    take_and_unload(argv[2], "nccl_take_linear", 2 * edges::kMiB);
  }
}
