// The model's outcomes as the driver's error codes.
#pragma once

#include "tools/simgpu/core/status.h"
#include "tools/simgpu/driver/cuda_api.h"

namespace simgpu {

constexpr bool same_number(Status status, CUresult result) {
  return static_cast<int>(status) == static_cast<int>(result);
}

static_assert(same_number(Status::kInvalidValue, CUDA_ERROR_INVALID_VALUE));
static_assert(same_number(Status::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same_number(Status::kNotInitialized, CUDA_ERROR_NOT_INITIALIZED));
static_assert(same_number(Status::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE));
static_assert(same_number(Status::kInvalidContext, CUDA_ERROR_INVALID_CONTEXT));
static_assert(same_number(Status::kMapFailed, CUDA_ERROR_MAP_FAILED));
static_assert(same_number(Status::kInvalidHandle, CUDA_ERROR_INVALID_HANDLE));
static_assert(same_number(Status::kIllegalState, CUDA_ERROR_ILLEGAL_STATE));
static_assert(same_number(Status::kNotFound, CUDA_ERROR_NOT_FOUND));
static_assert(same_number(Status::kNotReady, CUDA_ERROR_NOT_READY));
static_assert(same_number(Status::kAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(same_number(Status::kNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
static_assert(same_number(Status::kNotSupported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(same_number(Status::kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(same_number(Status::kCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
static_assert(same_number(Status::kCaptureMerge, CUDA_ERROR_STREAM_CAPTURE_MERGE));
static_assert(same_number(Status::kCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED));
static_assert(same_number(Status::kCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
static_assert(same_number(Status::kCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT));
static_assert(same_number(Status::kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT));
static_assert(same_number(Status::kCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD));

constexpr CUresult result_of(Status status) { return static_cast<CUresult>(status); }

}  // namespace simgpu
