#include "tools/simgpu/driver/copy.h"

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

bool is_accessible(uint64_t address, uint64_t bytes) {
  Driver& state = driver();
  std::lock_guard lock(state.mutex);
  return state.data_mover.is_accessible(address, bytes);
}

void copy_row(uint64_t destination, uint64_t source, uint64_t bytes) {
  if (bytes == 0) return;
  Driver& state = driver();
  Movement movement;
  {
    std::lock_guard lock(state.mutex);
    movement = state.data_mover.plan_copy(destination, source, bytes);
  }
  state.data_mover.carry_out(movement, destination, source, bytes);
}

uint64_t extent_bytes(const CopyRegion& region, uint64_t pitch, uint64_t slice) {
  if (region.height == 0 || region.depth == 0) return 0;
  return (region.depth - 1) * slice + (region.height - 1) * pitch + region.width_bytes;
}

CUresult blocking(const CopyRegion& region) {
  if (!is_accessible(region)) return CUDA_ERROR_INVALID_VALUE;
  return run_blocking(copy_effect(region));
}

CUresult in_stream(const CopyRegion& region, CUstream stream) {
  if (!is_accessible(region)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, {NodeType::kMemcpy}, copy_effect(region));
}

CUresult blocking(const std::optional<CopyRegion>& region) {
  return region ? blocking(*region) : run_blocking([] {});
}

CUresult in_stream(const std::optional<CopyRegion>& region, CUstream stream) {
  return region ? in_stream(*region, stream) : enqueue(stream, {NodeType::kMemcpy}, [] {});
}

// One end of a pitched copy: its memory type decides which field holds the address.
uint64_t start(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? number_of(host) : device;
}

CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& peer) {
  CUDA_MEMCPY3D copy = {};
  copy.srcXInBytes = peer.srcXInBytes;
  copy.srcY = peer.srcY;
  copy.srcZ = peer.srcZ;
  copy.srcMemoryType = peer.srcMemoryType;
  copy.srcHost = peer.srcHost;
  copy.srcDevice = peer.srcDevice;
  copy.srcPitch = peer.srcPitch;
  copy.srcHeight = peer.srcHeight;
  copy.dstXInBytes = peer.dstXInBytes;
  copy.dstY = peer.dstY;
  copy.dstZ = peer.dstZ;
  copy.dstMemoryType = peer.dstMemoryType;
  copy.dstHost = peer.dstHost;
  copy.dstDevice = peer.dstDevice;
  copy.dstPitch = peer.dstPitch;
  copy.dstHeight = peer.dstHeight;
  copy.WidthInBytes = peer.WidthInBytes;
  copy.Height = peer.Height;
  copy.Depth = peer.Depth;
  return copy;
}

}  // namespace

bool is_accessible(const CopyRegion& region) {
  return is_accessible(region.destination,
                       extent_bytes(region, region.destination_pitch, region.destination_slice)) &&
         is_accessible(region.source,
                       extent_bytes(region, region.source_pitch, region.source_slice));
}

Effect copy_effect(const CopyRegion& region) {
  return [region] {
    for (uint64_t z = 0; z < region.depth; ++z) {
      for (uint64_t y = 0; y < region.height; ++y) {
        copy_row(region.destination + z * region.destination_slice + y * region.destination_pitch,
                 region.source + z * region.source_slice + y * region.source_pitch,
                 region.width_bytes);
      }
    }
  };
}

std::optional<CopyRegion> region_of(const CUDA_MEMCPY2D& copy) {
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return std::nullopt;
  }
  // A pitch of 0 stands for rows without a gap.
  const uint64_t source_pitch = copy.srcPitch ? copy.srcPitch : copy.WidthInBytes;
  const uint64_t destination_pitch = copy.dstPitch ? copy.dstPitch : copy.WidthInBytes;
  return CopyRegion{.destination = start(copy.dstMemoryType, copy.dstHost, copy.dstDevice) +
                                   copy.dstY * destination_pitch + copy.dstXInBytes,
                    .source = start(copy.srcMemoryType, copy.srcHost, copy.srcDevice) +
                              copy.srcY * source_pitch + copy.srcXInBytes,
                    .width_bytes = copy.WidthInBytes,
                    .height = copy.Height,
                    .destination_pitch = destination_pitch,
                    .source_pitch = source_pitch};
}

std::optional<CopyRegion> region_of(const CUDA_MEMCPY3D& copy) {
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    return std::nullopt;
  }
  const uint64_t source_pitch = copy.srcPitch ? copy.srcPitch : copy.WidthInBytes;
  const uint64_t destination_pitch = copy.dstPitch ? copy.dstPitch : copy.WidthInBytes;
  const uint64_t source_slice = source_pitch * (copy.srcHeight ? copy.srcHeight : copy.Height);
  const uint64_t destination_slice =
      destination_pitch * (copy.dstHeight ? copy.dstHeight : copy.Height);
  return CopyRegion{.destination = start(copy.dstMemoryType, copy.dstHost, copy.dstDevice) +
                                   copy.dstZ * destination_slice + copy.dstY * destination_pitch +
                                   copy.dstXInBytes,
                    .source = start(copy.srcMemoryType, copy.srcHost, copy.srcDevice) +
                              copy.srcZ * source_slice + copy.srcY * source_pitch +
                              copy.srcXInBytes,
                    .width_bytes = copy.WidthInBytes,
                    .height = copy.Height,
                    .depth = copy.Depth,
                    .destination_pitch = destination_pitch,
                    .source_pitch = source_pitch,
                    .destination_slice = destination_slice,
                    .source_slice = source_slice};
}

}  // namespace simgpu

using namespace simgpu;

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return blocking(CopyRegion{destination, source, bytes});
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, size_t bytes) {
  return blocking(CopyRegion{destination, number_of(source), bytes});
}

CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, size_t bytes) {
  return blocking(CopyRegion{number_of(destination), source, bytes});
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
  return blocking(CopyRegion{destination, source, bytes});
}

CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                      size_t bytes) {
  return blocking(CopyRegion{destination, source, bytes});
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
  return in_stream(CopyRegion{destination, source, bytes}, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, size_t bytes,
                              CUstream stream) {
  return in_stream(CopyRegion{destination, number_of(source), bytes}, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return in_stream(CopyRegion{number_of(destination), source, bytes}, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return in_stream(CopyRegion{destination, source, bytes}, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                           size_t bytes, CUstream stream) {
  return in_stream(CopyRegion{destination, source, bytes}, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy ? blocking(region_of(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D_v2(copy); }

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy ? in_stream(region_of(*copy), stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy ? blocking(region_of(*copy)) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy ? in_stream(region_of(*copy), stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return copy ? blocking(region_of(without_contexts(*copy))) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy ? in_stream(region_of(without_contexts(*copy)), stream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* destinations, CUdeviceptr* sources, size_t* sizes,
                               size_t count, CUmemcpyAttributes*, size_t*, size_t,
                               CUstream stream) {
  if (!destinations || !sources || !sizes || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUresult result = in_stream(CopyRegion{destinations[i], sources[i], sizes[i]}, stream);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* destinations, CUdeviceptr* sources, size_t* sizes,
                            size_t count, CUmemcpyAttributes* attributes, size_t* attribute_indexes,
                            size_t attribute_count, size_t* failed_index, CUstream stream) {
  const CUresult result = cuMemcpyBatchAsync_v2(destinations, sources, sizes, count, attributes,
                                                attribute_indexes, attribute_count, stream);
  if (failed_index && result != CUDA_SUCCESS) *failed_index = SIZE_MAX;  // not tied to one copy
  return result;
}
