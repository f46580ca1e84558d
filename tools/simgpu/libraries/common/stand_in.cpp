#include "tools/simgpu/libraries/common/stand_in.h"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "tools/simgpu/libraries/common/kernel.h"

namespace simgpu::libraries {
namespace {

/// Bytes of one value of a cudaDataType_t (library_types.h), of those that cuBLAS takes for
/// results.
size_t data_type_bytes(long data_type) {
  switch (data_type) {
    case 2:   // CUDA_R_16F
    case 14:  // CUDA_R_16BF
      return 2;
    case 0:   // CUDA_R_32F
    case 6:   // CUDA_C_16F
    case 15:  // CUDA_C_16BF
      return 4;
    case 1:  // CUDA_R_64F
    case 4:  // CUDA_C_32F
      return 8;
    case 5:  // CUDA_C_64F
      return 16;
    default:
      return 0;
  }
}

struct NamedFunctions {
  std::mutex mutex;
  std::set<std::string> names;
};

// Never destroyed: destructors of the program may still call the library.
NamedFunctions& named_functions() {
  static auto* instance = new NamedFunctions;
  return *instance;
}

}  // namespace

void create_object(long output) { *reinterpret_cast<Object**>(output) = new Object; }

void destroy_object(long object) { delete as_object(object); }

void set_stream(long object, long stream) {
  as_object(object)->stream = reinterpret_cast<CUstream>(stream);
}

void get_stream(long object, long output) {
  *reinterpret_cast<CUstream*>(output) = as_object(object)->stream;
}

void write_zeros(long output, size_t size_bytes) {
  if (output != 0) std::memset(reinterpret_cast<void*>(output), 0, size_bytes);
}

void write_host_result(long handle, long output, size_t size_bytes) {
  if (as_object(handle)->pointer_mode == kScalarsOnHost) write_zeros(output, size_bytes);
}

void write_typed_host_result(long handle, long output, long data_type) {
  // An enumeration fills half a register; the other half is not defined.
  write_host_result(handle, output, data_type_bytes(static_cast<int>(data_type)));
}

bool launch_on_stream(long stream) {
  return launch_kernel(reinterpret_cast<CUstream>(stream)) == CUDA_SUCCESS;
}

bool launch_on_handle(long object) {
  return launch_kernel(as_object(object)->stream) == CUDA_SUCCESS;
}

long unsupported(const char* function, long status) {
  NamedFunctions& named = named_functions();
  std::lock_guard lock(named.mutex);
  if (named.names.insert(function).second) {
    std::fprintf(stderr, "simgpu: %s is not supported by the simulated GPU (%ld)\n", function,
                 status);
  }
  return status;
}

}  // namespace simgpu::libraries
