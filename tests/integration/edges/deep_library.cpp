// Loaded with RTLD_DEEPBIND: what it calls passes every preload.
#include "edge_calls.h"

extern "C" void allocate_deep() {
  edges::use_device(0);
  edges::free_again(edges::allocate(5 * edges::kMiB));
}
