// Linear copies and sets. Addresses say where memory lies, so the direction is not passed on.

#include "tools/simgpu/runtime/forward.h"
#include "tools/simgpu/runtime/registration.h"

using namespace simgpu::runtime;

namespace {

/// Address of byte `offset` of a device variable, for a copy of `size_bytes`.
cudaError_t inside_symbol(const void* symbol, size_t offset, size_t size_bytes, void** address) {
  if (cudaError_t error = bind_context(); error != cudaSuccess) return error;
  void* start = nullptr;
  size_t symbol_bytes = 0;
  cudaError_t error = find_variable(symbol, &start, &symbol_bytes);
  if (error != cudaSuccess) return error;
  if (offset > symbol_bytes || size_bytes > symbol_bytes - offset) {
    return record_error(cudaErrorInvalidValue);
  }
  *address = static_cast<char*>(start) + offset;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* destination, const void* source, size_t size_bytes, cudaMemcpyKind) {
  return forward<&DriverApi::cuMemcpy>(destination, source, size_bytes);
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t size_bytes,
                            cudaMemcpyKind, cudaStream_t stream) {
  return forward<&DriverApi::cuMemcpyAsync>(destination, source, size_bytes, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t size_bytes,
                               size_t offset, cudaMemcpyKind) {
  void* destination = nullptr;
  cudaError_t error = inside_symbol(symbol, offset, size_bytes, &destination);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpy>(destination, source, size_bytes);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t size_bytes,
                                    size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  void* destination = nullptr;
  cudaError_t error = inside_symbol(symbol, offset, size_bytes, &destination);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpyAsync>(destination, source, size_bytes, stream);
}

cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t size_bytes,
                                 size_t offset, cudaMemcpyKind) {
  void* source = nullptr;
  cudaError_t error = inside_symbol(symbol, offset, size_bytes, &source);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpy>(destination, source, size_bytes);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t size_bytes,
                                      size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  void* source = nullptr;
  cudaError_t error = inside_symbol(symbol, offset, size_bytes, &source);
  if (error != cudaSuccess) return error;
  return forward<&DriverApi::cuMemcpyAsync>(destination, source, size_bytes, stream);
}

cudaError_t cudaMemPrefetchAsync(const void* address, size_t size_bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return forward<&DriverApi::cuMemPrefetchAsync>(
      address, size_bytes, as_driver_struct<CUmemLocation>(location), flags, stream);
}

cudaError_t cudaMemset(void* address, int value, size_t size_bytes) {
  return forward<&DriverApi::cuMemsetD8>(address, value, size_bytes);
}

cudaError_t cudaMemsetAsync(void* address, int value, size_t size_bytes, cudaStream_t stream) {
  return forward<&DriverApi::cuMemsetD8Async>(address, value, size_bytes, stream);
}

}  // extern "C"
