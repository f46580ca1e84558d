// A program of the CUDA runtime, linked with the shared one. Built a second time for the per-thread
// default stream.
#include <cuda_runtime_api.h>

#include <cstdio>

namespace {

constexpr size_t kMiB = 1 << 20;

void print(const char* call, cudaError_t result) { std::printf("%s %d\n", call, result); }

void linear_memory() {
  void* address = nullptr;
  void* pitched = nullptr;
  void* managed = nullptr;
  size_t pitch = 0;
  print("cudaMalloc", cudaMalloc(&address, 3 * kMiB));
  print("cudaMallocPitch", cudaMallocPitch(&pitched, &pitch, 1000, 64));
  print("cudaMallocManaged", cudaMallocManaged(&managed, kMiB, cudaMemAttachGlobal));
  print("cudaMemset", cudaMemset(address, 0, kMiB));
  void* none = nullptr;
  print("cudaMalloc of 2^60", cudaMalloc(&none, size_t{1} << 60));
  print("cudaGetLastError", cudaGetLastError());
  print("cudaFree", cudaFree(address));
  print("cudaFree", cudaFree(pitched));
  print("cudaFree", cudaFree(managed));
  print("cudaFree of 0", cudaFree(nullptr));
}

void stream_ordered_memory() {
  cudaStream_t stream = nullptr;
  void* address = nullptr;
  print("cudaStreamCreate", cudaStreamCreate(&stream));
  print("cudaMallocAsync", cudaMallocAsync(&address, 2 * kMiB, stream));
  print("cudaFreeAsync", cudaFreeAsync(address, stream));
  print("cudaMallocAsync", cudaMallocAsync(&address, kMiB, nullptr));
  print("cudaFreeAsync", cudaFreeAsync(address, nullptr));
  print("cudaStreamSynchronize", cudaStreamSynchronize(stream));
  print("cudaStreamDestroy", cudaStreamDestroy(stream));
}

void host_memory() {
  void* address = nullptr;
  alignas(4096) static char pages[4096];
  print("cudaMallocHost", cudaMallocHost(&address, 5000));
  print("cudaFreeHost", cudaFreeHost(address));
  print("cudaHostAlloc", cudaHostAlloc(&address, 6000, cudaHostAllocMapped));
  print("cudaFreeHost", cudaFreeHost(address));
  print("cudaHostRegister", cudaHostRegister(pages, sizeof(pages), cudaHostRegisterDefault));
  print("cudaHostUnregister", cudaHostUnregister(pages));
}

}  // namespace

int main() {
  int devices = 0;
  print("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    print("cudaSetDevice", cudaSetDevice(device));
    linear_memory();
    stream_ordered_memory();
  }
  host_memory();
  print("cudaDeviceReset", cudaDeviceReset());
}
