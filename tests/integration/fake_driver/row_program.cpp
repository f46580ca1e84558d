// Calls every row of the hook table once, by one route, and prints the events that must come of it
// in the form of `vramscope dump`, without process and thread.
// Usage: row_program plt|dlsym|cuGetProcAddress|cuGetProcAddress_v2
#include <dlfcn.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "api_lookups.h"
#include "c10_device.h"
#include "row_calls.h"

extern "C" void* const linked_entries[vramscope::kApiCount];  // entries.S

namespace vramscope::rows {
namespace {

[[noreturn]] void fail(const char* symbol, const char* what) {
  std::fprintf(stderr, "row_program: %s: %s\n", symbol, what);
  std::exit(1);
}

void* by_dlsym(uint16_t row) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  static void* c10 = dlopen("libc10.so", RTLD_NOW | RTLD_LOCAL);
  return dlsym(is_pytorch_row(row) ? c10 : driver, kApiNames[row]);
}

using Resolve = Signature<Api::cuGetProcAddress>::type;
using ResolveV2 = Signature<Api::cuGetProcAddress_v2>::type;

constexpr cuuint64_t flags_of(const ApiLookup& row) {
  return row.per_thread_stream ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
}

void* by_resolver(uint16_t row) {
  auto* resolve =
      reinterpret_cast<Resolve*>(by_dlsym(static_cast<uint16_t>(Api::cuGetProcAddress)));
  const ApiLookup& wanted = kApiLookups[row];
  void* function = nullptr;
  if (resolve(wanted.base, &function, wanted.version, flags_of(wanted)) != CUDA_SUCCESS)
    return nullptr;
  return function;
}

// Found through itself; its status may be NULL.
void* by_resolver_v2(uint16_t row) {
  auto* resolve =
      reinterpret_cast<ResolveV2*>(by_resolver(static_cast<uint16_t>(Api::cuGetProcAddress_v2)));
  const ApiLookup& wanted = kApiLookups[row];
  void* function = nullptr;
  auto status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  auto* where = row % 2 == 0 ? &status : nullptr;
  if (resolve(wanted.base, &function, wanted.version, flags_of(wanted), where) != CUDA_SUCCESS)
    return nullptr;
  if (where != nullptr && status != CU_GET_PROC_ADDRESS_SUCCESS)
    fail(wanted.base, "found, but its status says otherwise");
  return function;
}

void* by_plt(uint16_t row) { return linked_entries[row]; }

struct Route {
  const char* name;
  void* (*find)(uint16_t row);
};
constexpr Route kRoutes[] = {{"plt", by_plt},
                             {"dlsym", by_dlsym},
                             {"cuGetProcAddress", by_resolver},
                             {"cuGetProcAddress_v2", by_resolver_v2}};

// All lookups of one entry point must give one function: programs compare them.
void expect_one_function(uint16_t row) {
  void* function = by_dlsym(row);
  if (is_pytorch_row(row)) return;
  if (by_resolver(row) != function) fail(kApiNames[row], "cuGetProcAddress differs from dlsym");
  if (by_resolver_v2(row) != function)
    fail(kApiNames[row], "cuGetProcAddress_v2 differs from dlsym");
}

void print(const char* api, int result, const ExpectedRow& row) {
  std::printf("%s\t%d\t%d\t0x%" PRIx64 "\t%" PRIu64 "\t0x%" PRIx64 "\t0x%" PRIx64 "\n", api, result,
              row.device, row.address, row.size, row.stream, row.handle);
}

void call_driver_rows(const Route& route, CUresult result) {
  for_each_row([&]<Api kApi>(const ExpectedRow& expected) {
    const auto row = static_cast<uint16_t>(kApi);
    void* function = route.find(row);
    if (function == nullptr) fail(kApiNames[row], "not found");
    expect_one_function(row);
    const CUresult returned = call(reinterpret_cast<EntryPoint<kApi>*>(function), Pointers::kValid);
    if (returned != result) fail(kApiNames[row], "another result, or its arguments did not arrive");
    print(kApiLookups[row].base, result, result == CUDA_SUCCESS ? expected : refused(expected));
  });
}

constexpr c10::Device kGpu = {1, 4};
constexpr c10::Device kCpu = {0, -1};

void print_block(const char* name, uint64_t address, uint64_t size, uint64_t handle) {
  ExpectedRow row = {};
  row.device = kGpu.index;
  row.address = address;
  row.size = size;
  row.handle = handle;
  print(name, 0, row);
}

// PyTorch's functions have no resolver of their own: those routes find them by dlsym.
void call_pytorch_rows(const Route& route) {
  const bool is_linked = route.find == by_plt;
  const auto find = [&](Api api) {
    const auto row = static_cast<uint16_t>(api);
    return is_linked ? by_plt(row) : by_dlsym(row);
  };
  auto* usage = reinterpret_cast<decltype(&c10::reportMemoryUsageToProfiler)>(
      find(Api::_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE));
  auto* refusal = reinterpret_cast<decltype(&c10::reportOutOfMemoryToProfiler)>(
      find(Api::_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE));
  usage(argument<void*>(1), 0x2000, 0x3000, 0x4000, kGpu);
  usage(argument<void*>(1), -0x2000, 0x1000, 0x4000, kGpu);
  usage(argument<void*>(1), 0x2000, 0x3000, 0x4000, kCpu);
  refusal(0x9000, 0x1000, 0x4000, kGpu);
  print_block("block_alloc", 0x1000, 0x2000, 0);  // no allocator that would tell the request
  print_block("block_free", 0x1000, 0x2000, 0x1000);
  print_block("block_oom", 0, 0x9000, 0x1000);
}

int run(const char* name) {
  for (const Route& route : kRoutes) {
    if (std::strcmp(route.name, name) != 0) continue;
    const char* refusal = std::getenv("FAKE_DRIVER_RESULT");
    call_driver_rows(route, refusal == nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
    call_pytorch_rows(route);
    return 0;
  }
  fail(name, "no such route");
}

}  // namespace
}  // namespace vramscope::rows

int main(int argc, char** argv) { return vramscope::rows::run(argc == 2 ? argv[1] : ""); }
