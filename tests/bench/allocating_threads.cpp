// Threads that allocate and free device memory through the driver, from call chains of changing
// depth. Prints the memory of the process in KiB: "anonymous file shared" before the first
// allocation, halfway and at the end.
//
// Usage: allocating_threads THREADS EVENTS    EVENTS: of each thread
#include <cuda.h>
#include <dlfcn.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Driver {
  decltype(&cuInit) init;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuCtxSetCurrent) set_current;
  decltype(&cuMemAlloc) alloc;
  decltype(&cuMemFree) free;
};

Driver load_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto find = [library]<typename Function>(Function& function, const char* name) {
    function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
    if (function != nullptr) return;
    std::fprintf(stderr, "allocating_threads: no %s\n", name);
    std::exit(1);
  };
  Driver driver{};
  find(driver.init, "cuInit");
  find(driver.retain, "cuDevicePrimaryCtxRetain");
  find(driver.set_current, "cuCtxSetCurrent");
  find(driver.alloc, "cuMemAlloc_v2");
  find(driver.free, "cuMemFree_v2");
  return driver;
}

void print_memory() {
  std::ifstream status("/proc/self/status");
  std::string line;
  long anonymous = 0;
  long file = 0;
  long shared = 0;
  while (std::getline(status, line)) {
    std::sscanf(line.c_str(), "RssAnon: %ld", &anonymous);
    std::sscanf(line.c_str(), "RssFile: %ld", &file);
    std::sscanf(line.c_str(), "RssShmem: %ld", &shared);
  }
  std::printf("%ld %ld %ld\n", anonymous, file, shared);
}

// Each bit of `path` chooses one of two call sites: so many different stacks.
[[gnu::noinline]] void allocate(const Driver& driver, unsigned path, int depth) {
  if (depth > 0) {
    if ((path & 1) != 0) {
      allocate(driver, path >> 1, depth - 1);
      asm volatile("nop");
    } else {
      allocate(driver, path >> 1, depth - 1);
    }
    asm volatile("");  // calls, not jumps
    return;
  }
  CUdeviceptr address = 0;
  if (driver.alloc(&address, 1 << 20) != CUDA_SUCCESS) std::exit(1);
  driver.free(address);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = std::atoi(argv[1]);
  const int pairs = std::atoi(argv[2]) / 2;
  const Driver driver = load_driver();
  CUcontext context = nullptr;
  driver.init(0);
  if (driver.retain(&context, 0) != CUDA_SUCCESS) return 1;

  std::barrier phase(threads + 1);
  const auto work = [&] {
    driver.set_current(context);
    phase.arrive_and_wait();
    for (const int half : {0, 1}) {
      for (int i = 0; i < pairs / 2; ++i) {
        const auto path = static_cast<unsigned>(i) * 2 + static_cast<unsigned>(half);
        allocate(driver, path % 4096, 12 + static_cast<int>(path % 20));
      }
      phase.arrive_and_wait();
      phase.arrive_and_wait();
    }
  };
  std::vector<std::jthread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) running.emplace_back(work);
  print_memory();
  phase.arrive_and_wait();
  for (int half = 0; half < 2; ++half) {
    phase.arrive_and_wait();
    print_memory();
    phase.arrive_and_wait();
  }
}
