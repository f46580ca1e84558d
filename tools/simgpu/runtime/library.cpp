// Device code that the program loads itself (cudaLibrary_t). Options are for the compiler of the
// real driver; the simulated one has none, so they are not passed on.

#include "tools/simgpu/runtime/forward.h"

using namespace simgpu::runtime;

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return forward<&DriverApi::cuLibraryLoadData>(library, code, nullptr, nullptr, 0, nullptr,
                                                nullptr, 0);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file_name, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return forward<&DriverApi::cuLibraryLoadFromFile>(library, file_name, nullptr, nullptr, 0,
                                                    nullptr, nullptr, 0);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return forward<&DriverApi::cuLibraryUnload>(library);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return forward<&DriverApi::cuLibraryGetKernel>(kernel, library, name);
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return forward<&DriverApi::cuLibraryGetKernelCount>(count, library);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned capacity,
                                        cudaLibrary_t library) {
  return forward<&DriverApi::cuLibraryEnumerateKernels>(kernels, capacity, library);
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* size_bytes, cudaLibrary_t library,
                                 const char* name) {
  return forward<&DriverApi::cuLibraryGetGlobal>(address, size_bytes, library, name);
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* size_bytes, cudaLibrary_t library,
                                  const char* name) {
  return forward<&DriverApi::cuLibraryGetManaged>(address, size_bytes, library, name);
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library,
                                          const char* symbol) {
  return forward<&DriverApi::cuLibraryGetUnifiedFunction>(function, library, symbol);
}

}  // extern "C"
