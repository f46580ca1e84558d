// cuDNN: versions, errors, tensor and filter descriptors.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/stand_in.h"
#include "tools/simgpu/libraries/cudnn_facts.h"

using namespace simgpu::libraries::cudnn;
using simgpu::libraries::Object;

namespace {

constexpr int kMaxDimensions = 8;  // CUDNN_DIM_MAX
constexpr size_t kDropoutStatesBytes = 1 << 20;

/// Of a tensor or a filter; filters have no strides.
struct TensorDescriptor : Object {
  int data_type = kFloat;
  int dimension_count = 0;
  int dimensions[kMaxDimensions] = {};
  int strides[kMaxDimensions] = {};
};

TensorDescriptor* as_tensor(void* descriptor) {
  return static_cast<TensorDescriptor*>(static_cast<Object*>(descriptor));
}

int create_descriptor(Object** descriptor) {
  *descriptor = new TensorDescriptor;
  return kSuccess;
}

int set_dimensions(TensorDescriptor* tensor, int data_type, int count, const int* dimensions) {
  if (count < 0 || count > kMaxDimensions) return kBadParameter;
  tensor->data_type = data_type;
  tensor->dimension_count = count;
  std::copy_n(dimensions, count, tensor->dimensions);
  return kSuccess;
}

}  // namespace

SIMGPU_EXPORT size_t cudnnGetVersion() { return kVersion; }

SIMGPU_EXPORT size_t cudnnGetCudartVersion() { return 13020; }

/// `property`: 0 major, 1 minor, 2 patch level (library_types.h).
SIMGPU_EXPORT int cudnnGetProperty(int property, int* value) {
  constexpr int kParts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
  if (property < 0 || property > 2) return kBadParameter;
  *value = kParts[property];
  return kSuccess;
}

SIMGPU_EXPORT const char* cudnnGetErrorString(int status) {
  thread_local char text[64];
  std::snprintf(text, sizeof text, "status %d of the simulated cuDNN", status);
  return text;
}

SIMGPU_EXPORT void cudnnGetLastErrorString(char* text, size_t capacity) {
  if (capacity > 0) std::snprintf(text, capacity, "no message of the simulated cuDNN");
}

SIMGPU_EXPORT int cudnnDropoutGetStatesSize(void*, size_t* size_bytes) {
  *size_bytes = kDropoutStatesBytes;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnCreateTensorDescriptor(Object** descriptor) {
  return create_descriptor(descriptor);
}

SIMGPU_EXPORT int cudnnSetTensorNdDescriptor(void* descriptor, int data_type, int count,
                                             const int* dimensions, const int* strides) {
  TensorDescriptor* tensor = as_tensor(descriptor);
  if (int error = set_dimensions(tensor, data_type, count, dimensions); error != kSuccess) {
    return error;
  }
  std::copy_n(strides, count, tensor->strides);
  return kSuccess;
}

SIMGPU_EXPORT int cudnnGetTensorNdDescriptor(void* descriptor, int capacity, int* data_type,
                                             int* count, int* dimensions, int* strides) {
  const TensorDescriptor* tensor = as_tensor(descriptor);
  const int copied = std::min(capacity, tensor->dimension_count);
  *data_type = tensor->data_type;
  *count = tensor->dimension_count;
  std::copy_n(tensor->dimensions, copied, dimensions);
  std::copy_n(tensor->strides, copied, strides);
  return kSuccess;
}

SIMGPU_EXPORT int cudnnCreateFilterDescriptor(Object** descriptor) {
  return create_descriptor(descriptor);
}

SIMGPU_EXPORT int cudnnSetFilterNdDescriptor(void* descriptor, int data_type, int, int count,
                                             const int* dimensions) {
  return set_dimensions(as_tensor(descriptor), data_type, count, dimensions);
}

SIMGPU_EXPORT int cudnnGetFilterNdDescriptor(void* descriptor, int capacity, int* data_type,
                                             int* format, int* count, int* dimensions) {
  const TensorDescriptor* filter = as_tensor(descriptor);
  *data_type = filter->data_type;
  *format = kNchw;
  *count = filter->dimension_count;
  std::copy_n(filter->dimensions, std::min(capacity, filter->dimension_count), dimensions);
  return kSuccess;
}
