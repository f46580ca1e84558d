#pragma once

#include "tools/simgpu/libraries/common/stand_in.h"

namespace simgpu::libraries::nccl {

// ncclResult_t
inline constexpr int kSuccess = 0;
inline constexpr int kUnhandledCudaError = 1;
inline constexpr int kSystemError = 2;

/// One rank's view of a group. No connection exists: see nccl_collectives.cpp.
struct Communicator : Object {
  Communicator(int ranks, int rank, int device) : ranks(ranks), rank(rank), device(device) {}

  int ranks;
  int rank;
  int device;
};

inline Communicator* as_communicator(void* handle) {
  return static_cast<Communicator*>(static_cast<Object*>(handle));
}

}  // namespace simgpu::libraries::nccl
