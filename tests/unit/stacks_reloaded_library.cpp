// Built twice, under two names: a library that calls back. stacks_modules_test loads one, closes it
// and loads the other one over the same addresses.
extern "C" void call_back(void (*function)(void*), void* argument) {
  function(argument);
  asm volatile("");  // no jump
}
