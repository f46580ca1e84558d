// A libcuda that knows the hooked entry points and nothing else. Each looks whether its arguments
// arrived (710 if not), and returns what row_calls.h says, or the error in FAKE_DRIVER_RESULT.
#include <cstdlib>
#include <cstring>

#include "api_lookups.h"
#include "row_calls.h"

namespace vramscope::rows {
namespace {

CUresult chosen_result() {
  const char* text = std::getenv("FAKE_DRIVER_RESULT");
  return text == nullptr ? CUDA_SUCCESS : static_cast<CUresult>(std::atoi(text));
}

template <typename Signature>
struct Fake;

template <typename... Arguments>
struct Fake<CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    uint64_t position = 0;
    const bool arrived = (is_argument(arguments, ++position) && ...);
    if (!arrived) return CUDA_ERROR_ASSERT;
    position = 0;
    if (chosen_result() == CUDA_SUCCESS) (produce(arguments, ++position), ...);
    return chosen_result();
  }
};

}  // namespace

// fake_driver.S: the exported entry points, and where each of them jumps to.
extern "C" {
extern void* const fake_entries[kApiCount];
extern void* fake_targets[kApiCount];
CUresult fake_resolver(const char* symbol, void** function, int version, cuuint64_t flags);
CUresult fake_resolver_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status);
}

namespace {

// The newest variant that the version knows; for the per-thread default stream where there is one.
const void* find_entry(const char* symbol, int version, bool per_thread_stream) {
  const ApiLookup* best = nullptr;
  for (const ApiLookup& row : kApiLookups) {
    const bool fits = std::strcmp(row.base, symbol) == 0 && row.version <= version &&
                      (per_thread_stream || !row.per_thread_stream);
    if (fits && (best == nullptr || row.version >= best->version)) best = &row;
  }
  return best == nullptr ? nullptr : fake_entries[best - kApiLookups];
}

[[gnu::constructor]] void set_targets() {
  for_each_row([]<Api kApi>(const ExpectedRow&) {
    fake_targets[static_cast<uint16_t>(kApi)] =
        reinterpret_cast<void*>(&Fake<EntryPoint<kApi>>::call);
  });
  fake_targets[static_cast<uint16_t>(Api::cuGetProcAddress)] =
      reinterpret_cast<void*>(fake_resolver);
  fake_targets[static_cast<uint16_t>(Api::cuGetProcAddress_v2)] =
      reinterpret_cast<void*>(fake_resolver_v2);
}

}  // namespace

CUresult fake_resolver(const char* symbol, void** function, int version, cuuint64_t flags) {
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const void* found = find_entry(symbol, version, flags == kPerThread);
  if (function != nullptr) *function = const_cast<void*>(found);
  return found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult fake_resolver_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  const CUresult result = fake_resolver(symbol, function, version, flags);
  if (status != nullptr) {
    *status =
        result == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return result;
}

extern "C" CUresult cuCtxGetDevice(CUdevice* device) {
  *device = kCurrentDevice;
  return CUDA_SUCCESS;
}

}  // namespace vramscope::rows
