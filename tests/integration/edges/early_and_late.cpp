// A library that uses the GPU in its constructor, before any constructor of a library loaded
// before it, and in its destructor, after theirs.
#include "edge_calls.h"

namespace edges {
namespace {

CUdeviceptr kept = 0;

[[gnu::constructor]] void start() {
  use_device(0);
  kept = allocate(kMiB);
  free_again(allocate(2 * kMiB));
}

[[gnu::destructor]] void stop() {
  free_again(kept);
  free_again(allocate(3 * kMiB));
}

}  // namespace
}  // namespace edges
