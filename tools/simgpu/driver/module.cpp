// Modules and libraries: the program's code. It is never read; every function and variable that is
// asked for exists.
#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

constexpr int kDefaultSharedBytes = 48 * 1024;
// Of a variable in a module: its true size is in code that the model does not read.
constexpr uint64_t kGlobalBytes = 64 * 1024;

// A module belongs to the current context's device; a library is loaded without a context too.
CUresult load(const char* api, auto* handle, const void* code) {
  return memory_call({.api = api}, [&](Driver& state, MemoryCall& call) {
    if (!handle || !code) return CUDA_ERROR_INVALID_VALUE;
    const Context* context = this_thread().current();
    if (context) call.device = context->device;
    Module* module = state.modules.create(Module{context ? context->device : 0, {}, {}});
    *handle = handle_of<std::remove_pointer_t<decltype(handle)>>(module);
    call.handle = number_of(module);
    return CUDA_SUCCESS;
  });
}

CUresult unload(const char* api, auto handle) {
  return memory_call({.api = api, .handle = number_of(handle)},
                     [&](Driver& state, MemoryCall& call) {
                       const Module* module = state.modules.find(handle);
                       if (!module) return CUDA_ERROR_INVALID_HANDLE;
                       if (const Context* context = this_thread().current())
                         call.device = context->device;
                       for (const auto& [name, kernel] : module->kernels)
                         state.kernels.remove(kernel);
                       for (const auto& [name, address] : module->globals)
                         state.memory.release(address);
                       state.modules.remove(handle);
                       return CUDA_SUCCESS;
                     });
}

CUresult get_kernel(auto* kernel_handle, auto module_handle, const char* name) {
  if (!kernel_handle || !name) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Module* module = state.modules.find(module_handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    Kernel*& kernel = module->kernels[name];
    if (!kernel) kernel = state.kernels.create(Kernel{name, module, kDefaultSharedBytes});
    *kernel_handle = handle_of<std::remove_pointer_t<decltype(kernel_handle)>>(kernel);
    return CUDA_SUCCESS;
  });
}

CUresult get_global(CUdeviceptr* address, size_t* bytes, auto module_handle, const char* name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    Module* module = state.modules.find(module_handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    const Context* context = this_thread().current();
    const int device = context ? context->device : module->device;
    uint64_t& global = module->globals[name];
    if (global == 0) {
      const Status status = state.memory.allocate_linear(device, kGlobalBytes, &global);
      if (status != Status::kSuccess) return result_of(status);
    }
    if (address) *address = global;
    if (bytes) *bytes = kGlobalBytes;
    return CUDA_SUCCESS;
  });
}

CUresult count_kernels(unsigned* count, auto handle) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Module* module = state.modules.find(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    *count = static_cast<unsigned>(module->kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult list_kernels(auto* kernels, unsigned capacity, auto handle) {
  if (!kernels) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    const Module* module = state.modules.find(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    unsigned count = 0;
    for (const auto& [name, kernel] : module->kernels) {
      if (count == capacity) break;
      kernels[count++] = handle_of<std::remove_pointer_t<decltype(kernels)>>(kernel);
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuModuleLoad(CUmodule* handle, const char* path) {
  return load("cuModuleLoad", handle, path);
}

CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
  return load("cuModuleLoadData", handle, image);
}

CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned, CUjit_option*, void**) {
  return load("cuModuleLoadDataEx", handle, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* handle, const void* image) {
  return load("cuModuleLoadFatBinary", handle, image);
}

CUresult cuModuleUnload(CUmodule handle) { return unload("cuModuleUnload", handle); }

CUresult cuLibraryLoadData(CUlibrary* handle, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return load("cuLibraryLoadData", handle, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary* handle, const char* path, CUjit_option*, void**, unsigned,
                               CUlibraryOption*, void**, unsigned) {
  return load("cuLibraryLoadFromFile", handle, path);
}

CUresult cuLibraryUnload(CUlibrary handle) { return unload("cuLibraryUnload", handle); }

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return get_kernel(function, module, name);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return get_kernel(kernel, library, name);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                              const char* name) {
  return get_global(address, bytes, module, name);
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return get_global(address, bytes, library, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return get_global(address, bytes, library, name);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_kernels(count, module);
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_kernels(count, library);
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return list_kernels(functions, count, module);
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return list_kernels(kernels, count, library);
}

// A library and its module are one thing here, and so are a kernel and its function.
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!module) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    if (!state.modules.find(library)) return CUDA_ERROR_INVALID_HANDLE;
    *module = reinterpret_cast<CUmodule>(library);
    return CUDA_SUCCESS;
  });
}
