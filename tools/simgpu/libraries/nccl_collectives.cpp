// NCCL: collectives. No data crosses processes: every rank acts as if the others held the same data
// as itself, so each collective is a few copies on the rank's own device. One in place copies
// nothing, and is an empty kernel while its stream is captured, so that the graph has a node.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/simgpu/libraries/common/driver.h"
#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/kernel.h"
#include "tools/simgpu/libraries/nccl_communicator.h"

using namespace simgpu::libraries;
using namespace simgpu::libraries::nccl;

namespace {

/// ncclDataType_t: int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16,
/// then two float8.
size_t type_bytes(int data_type) {
  constexpr size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const bool known = data_type >= 0 && data_type < static_cast<int>(std::size(kBytes));
  return known ? kBytes[data_type] : 1;
}

bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver().is_capturing == nullptr) return false;
  return driver().is_capturing(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

int result_of(CUresult result) { return result == CUDA_SUCCESS ? kSuccess : kUnhandledCudaError; }

int copy(void* destination, const void* source, size_t size_bytes, CUstream stream) {
  if (size_bytes == 0) return kSuccess;
  if (destination == source) {
    return is_capturing(stream) ? result_of(launch_kernel(stream)) : kSuccess;
  }
  if (driver().copy == nullptr) return kUnhandledCudaError;
  return result_of(driver().copy(reinterpret_cast<CUdeviceptr>(destination),
                                 reinterpret_cast<CUdeviceptr>(source), size_bytes, stream));
}

void* slot(void* buffer, int rank, size_t slot_bytes) {
  return static_cast<char*>(buffer) + rank * slot_bytes;
}

const void* slot(const void* buffer, int rank, size_t slot_bytes) {
  return static_cast<const char*>(buffer) + rank * slot_bytes;
}

/// Every rank's slot of `destination` gets `source`.
int fill_slots(void* destination, const void* source, size_t slot_bytes, int ranks,
               CUstream stream) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (int error = copy(slot(destination, rank, slot_bytes), source, slot_bytes, stream);
        error != kSuccess) {
      return error;
    }
  }
  return kSuccess;
}

/// Broadcasts inside a group, one for each root, are how PyTorch gathers tensors of unequal size.
/// The others' slots get this rank's own contribution, known only when the group ends.
struct Group {
  struct Received {
    void* destination;
    size_t size_bytes;
    CUstream stream;
  };

  int depth = 0;
  std::vector<Received> received;
  const void* contribution = nullptr;
  size_t contribution_bytes = 0;

  int end() {
    int error = kSuccess;
    for (const Received& part : received) {
      const bool fits = contribution != nullptr && part.size_bytes <= contribution_bytes;
      if (fits && error == kSuccess) {
        error = copy(part.destination, contribution, part.size_bytes, part.stream);
      }
    }
    received.clear();
    contribution = nullptr;
    return error;
  }
};

thread_local Group group;

}  // namespace

SIMGPU_EXPORT int ncclGroupStart() {
  ++group.depth;
  return kSuccess;
}

SIMGPU_EXPORT int ncclGroupEnd() {
  if (group.depth > 0) --group.depth;
  return group.depth == 0 ? group.end() : kSuccess;
}

SIMGPU_EXPORT int ncclAllReduce(const void* send, void* receive, size_t count, int data_type, int,
                                void*, CUstream stream) {
  return copy(receive, send, count * type_bytes(data_type), stream);
}

SIMGPU_EXPORT int ncclReduce(const void* send, void* receive, size_t count, int data_type, int,
                             int root, void* communicator, CUstream stream) {
  if (as_communicator(communicator)->rank != root) return kSuccess;
  return copy(receive, send, count * type_bytes(data_type), stream);
}

SIMGPU_EXPORT int ncclReduceScatter(const void* send, void* receive, size_t count, int data_type,
                                    int, void* communicator, CUstream stream) {
  const size_t slot_bytes = count * type_bytes(data_type);
  const int rank = as_communicator(communicator)->rank;
  return copy(receive, slot(send, rank, slot_bytes), slot_bytes, stream);
}

SIMGPU_EXPORT int ncclAllGather(const void* send, void* receive, size_t count, int data_type,
                                void* communicator, CUstream stream) {
  return fill_slots(receive, send, count * type_bytes(data_type),
                    as_communicator(communicator)->ranks, stream);
}

SIMGPU_EXPORT int ncclGather(const void* send, void* receive, size_t count, int data_type, int root,
                             void* communicator, CUstream stream) {
  const Communicator* own = as_communicator(communicator);
  if (own->rank != root) return kSuccess;
  return fill_slots(receive, send, count * type_bytes(data_type), own->ranks, stream);
}

SIMGPU_EXPORT int ncclScatter(const void* send, void* receive, size_t count, int data_type,
                              int root, void* communicator, CUstream stream) {
  const Communicator* own = as_communicator(communicator);
  if (own->rank != root) return kSuccess;  // only the root has something to send
  const size_t slot_bytes = count * type_bytes(data_type);
  return copy(receive, slot(send, own->rank, slot_bytes), slot_bytes, stream);
}

SIMGPU_EXPORT int ncclAlltoAll(const void* send, void* receive, size_t count, int data_type,
                               void* communicator, CUstream stream) {
  const Communicator* own = as_communicator(communicator);
  const size_t slot_bytes = count * type_bytes(data_type);
  return fill_slots(receive, slot(send, own->rank, slot_bytes), slot_bytes, own->ranks, stream);
}

SIMGPU_EXPORT int ncclBroadcast(const void* send, void* receive, size_t count, int data_type,
                                int root, void* communicator, CUstream stream) {
  const size_t size_bytes = count * type_bytes(data_type);
  if (as_communicator(communicator)->rank != root) {
    if (group.depth > 0) group.received.push_back({receive, size_bytes, stream});
    return kSuccess;
  }
  if (group.depth > 0) {
    group.contribution = send;
    group.contribution_bytes = size_bytes;
  }
  return copy(receive, send, size_bytes, stream);
}

SIMGPU_EXPORT int ncclBcast(void* buffer, size_t count, int data_type, int root, void* communicator,
                            CUstream stream) {
  return ncclBroadcast(buffer, buffer, count, data_type, root, communicator, stream);
}

// What one rank sends, no other receives.
SIMGPU_EXPORT int ncclSend(const void* buffer, size_t count, int data_type, int, void*,
                           CUstream stream) {
  return copy(const_cast<void*>(buffer), buffer, count * type_bytes(data_type), stream);
}

SIMGPU_EXPORT int ncclRecv(void* buffer, size_t count, int data_type, int, void*, CUstream stream) {
  return copy(buffer, buffer, count * type_bytes(data_type), stream);
}
