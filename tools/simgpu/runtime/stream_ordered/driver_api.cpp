#include "tools/simgpu/runtime/driver_api.h"

#include "tools/simgpu/runtime/runtime_state.h"

namespace simgpu::runtime {
inline namespace SIMGPU_DEFAULT_STREAM {
namespace {

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
constexpr cuuint64_t kLookupFlags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
#else
constexpr cuuint64_t kLookupFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
#endif

DriverApi look_up_all() {
  DriverApi api;
#define SIMGPU_LOOK_UP(name) \
  api.name = reinterpret_cast<decltype(api.name)>(driver_function(#name, kLookupFlags));
  SIMGPU_DRIVER_FUNCTIONS(SIMGPU_LOOK_UP)
#undef SIMGPU_LOOK_UP
  return api;
}

}  // namespace

const DriverApi& driver_api() {
  static const DriverApi api = look_up_all();
  return api;
}

}  // namespace SIMGPU_DEFAULT_STREAM
}  // namespace simgpu::runtime
