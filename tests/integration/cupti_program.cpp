// Allocates and frees, and tells a fake libcupti, if one is loaded, what to say about it. Argument
// `differ`: CUPTI misses one allocation, sees one too many and one of another size.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kPinned = 2;
constexpr int kDevice = 3;
constexpr int kArray = 4;

void require(CUresult result) {
  if (result != CUDA_SUCCESS) std::exit(3);
}

using Report = void(int is_release, uint64_t address, uint64_t bytes, int memory_kind);

void report(int is_release, uint64_t address, uint64_t bytes, int memory_kind = kDevice) {
  static auto* told = reinterpret_cast<Report*>(dlsym(RTLD_DEFAULT, "fake_cupti_report"));
  if (told != nullptr) told(is_release, address, bytes, memory_kind);
}

}  // namespace

int main(int argc, char** argv) {
  const bool differ = argc > 1 && std::strcmp(argv[1], "differ") == 0;
  CUcontext context = nullptr;
  require(cuInit(0));
  require(cuDevicePrimaryCtxRetain(&context, 0));  // the first event: CUPTI listens from here on
  require(cuCtxSetCurrent(context));
  for (int i = 0; i < 5; ++i) {
    CUdeviceptr address = 0;
    require(cuMemAlloc(&address, 4096));
    if (!differ || i != 2) report(0, address, differ && i == 4 ? 8192 : 4096);
    if (i % 2 == 0) {
      require(cuMemFree(address));
      report(1, address, 4096);
    }
  }
  void* pinned = nullptr;
  require(cuMemHostAlloc(&pinned, 4096, 0));
  report(0, reinterpret_cast<uint64_t>(pinned), 4096, kPinned);
  if (differ) report(0, 0xdead000, 4096);
  report(0, 0xabc000, 100, kArray);
  std::puts("done");
  return 0;
}
