// Setting memory to a value, from calls and from streams.
#include <cstring>

#include "tools/simgpu/driver/call.h"
#include "tools/simgpu/driver/copy.h"

namespace simgpu {
namespace {

template <typename Element>
void fill(uint64_t destination, uint32_t value, uint64_t count) {
  auto* elements = reinterpret_cast<Element*>(destination);
  for (uint64_t i = 0; i < count; ++i) elements[i] = static_cast<Element>(value);
}

void write_row(const SetRegion& region, uint64_t destination) {
  switch (region.element_bytes) {
    case 1:
      std::memset(reinterpret_cast<void*>(destination), static_cast<int>(region.value & 0xff),
                  region.width);
      return;
    case 2:
      return fill<uint16_t>(destination, region.value, region.width);
    default:
      return fill<uint32_t>(destination, region.value, region.width);
  }
}

void set_row(const SetRegion& region, uint64_t destination) {
  const uint64_t bytes = region.width * region.element_bytes;
  if (bytes == 0) return;
  Driver& state = driver();
  Movement movement;
  {
    std::lock_guard lock(state.mutex);
    movement = state.data_mover.plan_set(destination, bytes, region.value == 0);
  }
  if (movement == Movement::kCopy) {
    const PageBacking::Lease lease = state.memory.pages().lease();
    write_row(region, destination);
  } else {
    state.data_mover.carry_out(movement, destination, 0, bytes);
  }
}

CUresult blocking(const SetRegion& region) {
  if (!is_accessible(region)) return CUDA_ERROR_INVALID_VALUE;
  return run_blocking(set_effect(region));
}

CUresult in_stream(const SetRegion& region, CUstream stream) {
  if (!is_accessible(region)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, {NodeType::kMemset}, set_effect(region));
}

}  // namespace

bool is_accessible(const SetRegion& region) {
  const uint64_t row_bytes = region.width * region.element_bytes;
  return is_accessible(CopyRegion{.destination = region.destination,
                                  .source = 0,
                                  .width_bytes = row_bytes,
                                  .height = region.height,
                                  .destination_pitch = region.pitch});
}

Effect set_effect(const SetRegion& region) {
  return [region] {
    for (uint64_t row = 0; row < region.height; ++row) {
      set_row(region, region.destination + row * region.pitch);
    }
  };
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
  return blocking(SetRegion{destination, 0, value, 1, count});
}

CUresult cuMemsetD16_v2(CUdeviceptr destination, unsigned short value, size_t count) {
  return blocking(SetRegion{destination, 0, value, 2, count});
}

CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned value, size_t count) {
  return blocking(SetRegion{destination, 0, value, 4, count});
}

CUresult cuMemsetD2D8_v2(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return blocking(SetRegion{destination, pitch, value, 1, width, height});
}

CUresult cuMemsetD2D16_v2(CUdeviceptr destination, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  return blocking(SetRegion{destination, pitch, value, 2, width, height});
}

CUresult cuMemsetD2D32_v2(CUdeviceptr destination, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  return blocking(SetRegion{destination, pitch, value, 4, width, height});
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count,
                         CUstream stream) {
  return in_stream(SetRegion{destination, 0, value, 1, count}, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, size_t count,
                          CUstream stream) {
  return in_stream(SetRegion{destination, 0, value, 2, count}, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned value, size_t count, CUstream stream) {
  return in_stream(SetRegion{destination, 0, value, 4, count}, stream);
}

CUresult cuMemsetD2D8Async(CUdeviceptr destination, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return in_stream(SetRegion{destination, pitch, value, 1, width, height}, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr destination, size_t pitch, unsigned short value,
                            size_t width, size_t height, CUstream stream) {
  return in_stream(SetRegion{destination, pitch, value, 2, width, height}, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr destination, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return in_stream(SetRegion{destination, pitch, value, 4, width, height}, stream);
}

// A word that a stream writes for the host or another device to poll.
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  const SetRegion region{address, 0, value, 4, 1};
  if (!is_accessible(region)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, {NodeType::kBatchMemOp}, set_effect(region));
}
