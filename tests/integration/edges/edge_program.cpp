// Uses of the driver that are legal and rare.
// Usage: edge_program threads|signals|callback|null|deepbind|deepbind-only
// DEEP_LIBRARY: path of what the last two load.
#include <dlfcn.h>
#include <signal.h>

#include <cstring>
#include <thread>
#include <vector>

#include "edge_calls.h"

namespace edges {
namespace {

// Each thread makes its calls and is gone; their rings are used again.
void end_threads_at_once() {
  use_device(0);
  for (int round = 0; round < 25; ++round) {
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([i] {
        use_device(i % 2);
        free_again(allocate((i + 1) * kMiB));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

void allocate_in_handler(int) { free_again(allocate(7 * kMiB)); }

// On the thread's stack, and on one of its own.
void handle_signals() {
  use_device(0);
  static char other_stack[256 << 10];
  const stack_t stack = {other_stack, 0, sizeof other_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = allocate_in_handler;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR1);  // the process's first allocation
  for (int i = 0; i < 10; ++i) {
    const CUdeviceptr address = allocate(kMiB);
    raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
    free_again(address);
  }
}

// The driver forbids CUDA calls in there: it answers as it will.
void allocate_in_callback(void* result) {
  CUdeviceptr address = 0;
  *static_cast<CUresult*>(result) = cuMemAlloc(&address, kMiB);
}

void call_back() {
  use_device(0);
  CUresult result = CUDA_ERROR_UNKNOWN;
  CHECK(cuLaunchHostFunc(nullptr, allocate_in_callback, &result));
  CHECK(cuStreamSynchronize(nullptr));
  std::printf("in the callback: %d\n", result);
}

void pass_null() {
  use_device(0);
  std::printf("%d\n", cuMemAlloc(nullptr, kMiB));
  std::printf("%d\n", cuMemAllocPitch(nullptr, nullptr, 1, 1, 4));
  std::printf("%d\n", cuMemCreate(nullptr, kMiB, nullptr, 0));
  std::printf("%d\n", cuMemPoolCreate(nullptr, nullptr));
  std::printf("%d\n", cuMemHostAlloc(nullptr, 1, 0));
  std::printf("%d\n", cuArrayCreate(nullptr, nullptr));
  std::printf("%d\n", cuMemFree(0));
  void* function = nullptr;
  std::printf("%d\n", cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, nullptr));
  std::printf("%d\n", cuGetProcAddress_v2("cuNoSuchFunction", &function, 12000, 0, nullptr));
  std::printf("%d\n", cuGetProcAddress_v2("", &function, 12000, 0, nullptr));
}

void load_deep() {
  void* library = dlopen(std::getenv("DEEP_LIBRARY"), RTLD_NOW | RTLD_DEEPBIND);
  if (library == nullptr) std::abort();
  reinterpret_cast<void (*)()>(dlsym(library, "allocate_deep"))();
}

struct Mode {
  const char* name;
  void (*run)();
};
constexpr Mode kModes[] = {
    {"threads", end_threads_at_once},
    {"signals", handle_signals},
    {"callback", call_back},
    {"null", pass_null},
    {"deepbind-only", load_deep},
    {"deepbind",
     [] {
       use_device(0);
       load_deep();
       free_again(allocate(kMiB));
     }},
};

}  // namespace
}  // namespace edges

int main(int argc, char** argv) {
  for (const edges::Mode& mode : edges::kModes) {
    if (argc != 2 || std::strcmp(argv[1], mode.name) != 0) continue;
    mode.run();
    return 0;
  }
  std::fprintf(stderr, "usage: %s threads|signals|callback|null|deepbind|deepbind-only\n", argv[0]);
  return 2;
}
