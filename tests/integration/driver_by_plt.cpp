// A program linked with libcuda. Built a second time for the per-thread default stream.
#include "driver_calls.h"

struct Linked {
  template <auto* kFunction>
  auto* find(const char*) {
    return kFunction;
  }
};

int main() {
  Linked route;
  return driver_calls::make_all_calls(route);
}
