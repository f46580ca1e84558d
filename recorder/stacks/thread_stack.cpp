#include "recorder/stacks/thread_stack.h"

#include <pthread.h>

namespace vramscope {

ThreadStack ThreadStack::of_calling_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  const bool is_known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!is_known) return {};
  const auto begin = reinterpret_cast<uint64_t>(low);
  return {begin, begin + bytes};
}

}  // namespace vramscope
