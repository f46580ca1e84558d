#include "tools/simgpu/runtime/registration.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/simgpu/runtime/driver_api.h"
#include "tools/simgpu/runtime/forward.h"
#include "tools/simgpu/runtime/runtime_state.h"

namespace simgpu::runtime {
namespace {

/// One registered image, with what a dlclose must forget again.
struct FatBinary {
  const void* wrapper = nullptr;
  CUlibrary library = nullptr;
  std::vector<const void*> host_symbols;
};

struct Kernel {
  FatBinary* binary = nullptr;
  const char* name = nullptr;
  CUkernel handle = nullptr;
};

struct Variable {
  FatBinary* binary = nullptr;
  const char* name = nullptr;
  size_t size_bytes = 0;
  CUdeviceptr address = 0;
};

/// A __managed__ variable: the program reads its address from a host pointer.
struct ManagedVariable {
  FatBinary* binary = nullptr;
  void** host_pointer = nullptr;
  size_t size_bytes = 0;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> kernels;
  std::unordered_map<const void*, Variable> variables;
  std::vector<ManagedVariable> managed_variables;
  std::unordered_set<CUkernel> known_handles;
};

/// PyTorch registers about 200,000 kernels at start.
constexpr size_t kExpectedKernels = 1 << 18;

// Never destroyed: libraries unregister their images after the static destructors of this one.
Registry& registry() {
  static auto* instance = [] {
    auto* created = new Registry;
    created->kernels.reserve(kExpectedKernels);
    return created;
  }();
  return *instance;
}

CUresult load(FatBinary* binary) {
  if (binary->library != nullptr) return CUDA_SUCCESS;
  return driver_api().cuLibraryLoadData(&binary->library, binary->wrapper, nullptr, nullptr, 0,
                                        nullptr, nullptr, 0);
}

}  // namespace

CUkernel find_kernel(const void* host_symbol) {
  Registry& known = registry();
  std::lock_guard lock(known.mutex);
  auto found = known.kernels.find(host_symbol);
  if (found == known.kernels.end()) {
    auto* handle = static_cast<CUkernel>(const_cast<void*>(host_symbol));
    return known.known_handles.count(handle) != 0 ? handle : nullptr;
  }
  Kernel& kernel = found->second;
  if (kernel.handle == nullptr) {
    if (load(kernel.binary) != CUDA_SUCCESS) return nullptr;
    if (driver_api().cuLibraryGetKernel(&kernel.handle, kernel.binary->library, kernel.name) !=
        CUDA_SUCCESS) {
      return nullptr;
    }
    known.known_handles.insert(kernel.handle);
  }
  return kernel.handle;
}

cudaError_t find_variable(const void* host_symbol, void** address, size_t* size_bytes) {
  Registry& known = registry();
  std::lock_guard lock(known.mutex);
  auto found = known.variables.find(host_symbol);
  if (found == known.variables.end()) return record_error(cudaErrorInvalidSymbol);
  Variable& variable = found->second;
  if (variable.address == 0) {
    if (CUresult result = load(variable.binary); result != CUDA_SUCCESS) {
      return record_error(result);
    }
    size_t loaded_bytes = 0;
    CUresult result = driver_api().cuLibraryGetGlobal(&variable.address, &loaded_bytes,
                                                      variable.binary->library, variable.name);
    if (result != CUDA_SUCCESS) return record_error(result);
  }
  *address = reinterpret_cast<void*>(variable.address);
  *size_bytes = variable.size_bytes;
  return cudaSuccess;
}

namespace {

/// Gives every managed variable of `binary` its memory. Called before the program first reads one.
cudaError_t allocate_managed_variables(FatBinary* binary) {
  Registry& known = registry();
  std::lock_guard lock(known.mutex);
  for (ManagedVariable& variable : known.managed_variables) {
    if (variable.binary != binary || *variable.host_pointer != nullptr) continue;
    cudaError_t error = forward<&DriverApi::cuMemAllocManaged>(
        variable.host_pointer, variable.size_bytes, CU_MEM_ATTACH_GLOBAL);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace simgpu::runtime

using simgpu::runtime::FatBinary;
using simgpu::runtime::registry;

// What nvcc's generated code calls; declared in crt/host_runtime.h, which only nvcc can include.
#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* binary = new FatBinary;
  binary->wrapper = wrapper;
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  auto& known = registry();
  std::lock_guard lock(known.mutex);
  for (const void* symbol : binary->host_symbols) {
    known.kernels.erase(symbol);
    known.variables.erase(symbol);
  }
  std::erase_if(known.managed_variables,
                [binary](const auto& variable) { return variable.binary == binary; });
  // The library stays loaded in the driver, which may be gone by now; only the names are forgotten.
  delete binary;
}

char __cudaInitModule(void** handle) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  return simgpu::runtime::allocate_managed_variables(binary) == cudaSuccess ? 1 : 0;
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                            const char* device_name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  auto& known = registry();
  std::lock_guard lock(known.mutex);
  known.kernels[host_function] = {binary, device_name, nullptr};
  binary->host_symbols.push_back(host_function);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name, int,
                       size_t size_bytes, int, int) {
  auto* binary = reinterpret_cast<FatBinary*>(handle);
  auto& known = registry();
  std::lock_guard lock(known.mutex);
  known.variables[host_variable] = {binary, device_name, size_bytes, 0};
  binary->host_symbols.push_back(host_variable);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char*, int,
                              size_t size_bytes, int, int) {
  auto& known = registry();
  std::lock_guard lock(known.mutex);
  known.managed_variables.push_back(
      {reinterpret_cast<FatBinary*>(handle), host_pointer, size_bytes});
}

void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

}  // extern "C"
#pragma GCC visibility pop
