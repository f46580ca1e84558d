#pragma once

#include <cuda.h>

#include <cstddef>

// What the words in the tables mean: the functions that generate_stand_in.py writes consist of
// calls to these. Arguments are taken as `long`, because the tables know positions and no types:
// pointers and integers are passed alike. Any thread may call; none waits for the device.

namespace simgpu::libraries {

/// A handle, plan or descriptor of a library: what tables create, and the base of those that
/// hand-written sources create. Whoever calls the library owns it and destroys it once.
struct Object {
  virtual ~Object() = default;

  CUstream stream = nullptr;
  int pointer_mode = 0;  // of a cuBLAS handle: where scalars lie
};

/// Values of cublasPointerMode_t.
inline constexpr int kScalarsOnHost = 0;

inline Object* as_object(long argument) { return reinterpret_cast<Object*>(argument); }

/// create(n)
void create_object(long output);

/// destroy(n)
void destroy_object(long object);

/// set_stream(n, m), get_stream(n, m)
void set_stream(long object, long stream);
void get_stream(long object, long output);

/// zero4(n), zero8(n), zero8_array(n, m): an output on the host becomes zero. Null is allowed.
void write_zeros(long output, size_t size_bytes);

/// host_result(n, bytes): a result that lies on the host by the handle's pointer mode becomes zero;
/// one on the device is written by the (empty) kernel.
void write_host_result(long handle, long output, size_t size_bytes);

/// typed_host_result(n, m): the same, of the size of a cudaDataType_t. Nothing for unknown types.
void write_typed_host_result(long handle, long output, long data_type);

/// launch(stream n), launch(handle n): the work of the call, as one named empty kernel, so that
/// captured graphs have a node and launch hooks see it. Returns false where the driver refuses it.
bool launch_on_stream(long stream);
bool launch_on_handle(long object);

/// Names the function once on stderr; returns `status`, the library's code for "not supported".
long unsupported(const char* function, long status);

}  // namespace simgpu::libraries
