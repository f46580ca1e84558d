// Built twice, with another FUNCTION and another size of its frame.
#include <cstddef>

extern "C" void FUNCTION(void (*function)(size_t), size_t bytes) {
  volatile char room[ROOM];
  room[0] = 1;
  function(bytes);
  asm volatile("" : : "r"(room));  // no jump
}
