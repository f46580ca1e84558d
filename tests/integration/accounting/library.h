// What each of the test's libraries exports: LIBRARY_take_linear...
#pragma once

#include <cstddef>

#define LIBRARY_JOIN2(library, function) library##_##function
#define LIBRARY_JOIN(library, function) LIBRARY_JOIN2(library, function)
#define LIBRARY_NAME(function) LIBRARY_JOIN(LIBRARY, function)
#define DECLARE_LIBRARY(library)                    \
  void library##_take_linear(size_t bytes);         \
  void library##_take_and_free(size_t bytes);       \
  void library##_take_by_runtime(size_t bytes);     \
  void library##_take_stream_ordered(size_t bytes); \
  void library##_take_mapped(size_t bytes);         \
  void library##_take_array(size_t texels);         \
  void library##_ask_another(void (*take)(size_t), size_t bytes)

extern "C" {
DECLARE_LIBRARY(cublas);
DECLARE_LIBRARY(cudnn);
DECLARE_LIBRARY(nccl);
DECLARE_LIBRARY(mine);
}
