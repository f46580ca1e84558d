// The generated tables of the driver's exported functions.
#pragma once

#include <cstddef>
#include <iterator>

namespace simgpu {

// One row for each variant of a function that cuGetProcAddress can hand out.
struct EntryPoint {
  const char* base_name;   // what callers ask for: "cuMemAlloc"
  bool per_thread_stream;  // a _ptsz or _ptds variant
  int version;             // of CUDA that brought this variant: 3020
  void (*exported)();
};

extern const EntryPoint kEntryPoints[];
extern const size_t kEntryPointCount;

// The exported symbols; a THUNK_UNSUPPORTED's index points into it.
extern const char* const kExportedNames[];
extern const size_t kExportedNameCount;

}  // namespace simgpu
