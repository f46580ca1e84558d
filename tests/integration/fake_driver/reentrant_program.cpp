// A program whose malloc allocates GPU memory. Each of its threads makes one call that allocates,
// and whatever the profiler allocates for that meanwhile calls the driver again.
// Prints how often that happened.
#include <atomic>
#include <cstdio>
#include <thread>

#include "row_calls.h"

extern "C" void* __libc_malloc(size_t bytes);

namespace {

thread_local bool is_armed = false;
std::atomic<int> calls_from_malloc = 0;

void allocate_on_gpu() {
  CUdeviceptr address = 0;
  cuMemAlloc_v2(&address, vramscope::rows::argument_number(2));
}

}  // namespace

extern "C" void* malloc(size_t bytes) {
  if (is_armed) {
    is_armed = false;
    ++calls_from_malloc;
    allocate_on_gpu();
    is_armed = true;
  }
  return __libc_malloc(bytes);
}

int main() {
  allocate_on_gpu();  // From here on the profiler is at work.
  for (int i = 0; i < 20; ++i) {
    std::thread([] {
      is_armed = true;
      allocate_on_gpu();
      is_armed = false;
    }).join();
  }
  std::printf("%d\n", calls_from_malloc.load());
}
