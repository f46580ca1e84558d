// Loads a library by its bare name, which only its own RUNPATH leads to.
#include <dlfcn.h>

extern "C" int find_neighbour() { return dlopen("libdeep_library.so", RTLD_LAZY) != nullptr; }
