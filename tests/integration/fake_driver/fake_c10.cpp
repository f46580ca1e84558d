// The two functions of libc10 that are hooked. They do nothing.
#include <cstddef>
#include <cstdint>

#include "c10_device.h"

namespace c10 {

void reportMemoryUsageToProfiler(void*, int64_t, size_t, size_t, Device) {}
void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) {}

}  // namespace c10

// And the one of libtorch_cpu, so that the program can name it.
namespace at {

enum class RecordScope : unsigned char {};
void getStepCallbacks(RecordScope);
void getStepCallbacks(RecordScope) {}

}  // namespace at
