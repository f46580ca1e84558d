// Several libraries take memory from the driver, and so does the program.
#include "library.h"
#include "tests/integration/edges/edge_calls.h"

using edges::kMiB;

int main() {
  edges::use_device(0);
  cublas_take_and_free(16 * kMiB);
  cublas_take_linear(3 * kMiB);
  nccl_take_mapped(4 * kMiB);
  mine_ask_another(nccl_take_linear, 8 * kMiB);
  cudnn_take_stream_ordered(1 * kMiB);
  cudnn_take_by_runtime(2 * kMiB);
  mine_take_array(1000);
  edges::allocate(5 * kMiB);
}
