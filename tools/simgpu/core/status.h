// The outcomes that the device model knows. The numbers are the driver API's (CUresult in cuda.h),
// so that the driver layer passes them on unchanged; driver/result.h asserts that they agree.
#pragma once

namespace simgpu {

enum class Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kMapFailed = 205,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
};

}  // namespace simgpu
