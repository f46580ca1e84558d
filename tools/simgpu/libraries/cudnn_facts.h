#pragma once

// Values of cuDNN's public headers (cudnn_graph.h, cudnn_adv.h of version 9.26) that the stand-in
// depends on, so that it builds without them.

namespace simgpu::libraries::cudnn {

inline constexpr int kVersion = 92600;

// cudnnStatus_t
inline constexpr int kSuccess = 0;
inline constexpr int kBadParameter = 2000;
inline constexpr int kExecutionFailed = 5000;

// cudnnDataType_t
inline constexpr int kFloat = 0;
inline constexpr int kDouble = 1;

// cudnnTensorFormat_t
inline constexpr int kNchw = 0;

}  // namespace simgpu::libraries::cudnn
