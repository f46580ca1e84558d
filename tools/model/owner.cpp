#include "tools/model/owner.h"

#include <algorithm>

namespace vramscope {
namespace {

struct KnownLibrary {
  std::string_view file_prefix;
  std::string_view owner;
  bool is_caching_allocator = false;
};

// The first matching row counts.
constexpr KnownLibrary kKnownLibraries[] = {
    {"libc10_cuda", "PyTorch", true},
    {"libtorch", "PyTorch"},
    {"libc10", "PyTorch"},
    {"libcublas", "cuBLAS"},
    {"libcudnn", "cuDNN"},
    {"libnccl", "NCCL"},
    {"libnvshmem", "NVSHMEM"},
    {"libcusparse", "cuSPARSE"},
    {"libcusolver", "cuSOLVER"},
    {"libcufft", "cuFFT"},
    {"libcurand", "cuRAND"},
    {"libpython3", "Python"},
    {"libtriton", "Triton"},
    {"libxla", "XLA"},
    {"xla_", "XLA"},
    {"libtensorflow", "TensorFlow"},
    {"libonnxruntime", "ONNX Runtime"},
    {"libnvinfer", "TensorRT"},
};

constexpr std::string_view kTransparentLibraries[] = {
    "libcuda.so", "libcudart", "libvramscope", "ld-linux", "linux-vdso",
    "[vdso]",     "libcupti",  "libffi",       "_ctypes.",
};

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Owner owner_of_module(std::string_view path, std::string_view executable) {
  const std::string_view name = file_name(path);
  // An interpreter that is linked statically is the program itself.
  if (path == executable && name.starts_with("python3")) return {"Python"};
  for (const KnownLibrary& library : kKnownLibraries)
    if (path != executable && name.starts_with(library.file_prefix))
      return {std::string(library.owner), library.is_caching_allocator};
  return {std::string(name), false};
}

bool is_transparent_module(std::string_view path) {
  const std::string_view name = file_name(path);
  return std::ranges::any_of(kTransparentLibraries,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

StackOwners::StackOwners(const Session& session) : session_(session) {
  const auto executable = session.info.find("executable");
  const std::string_view program =
      executable == session.info.end() ? std::string_view() : executable->second;
  for (const NativeModule& module : session.modules) {
    module_owners_.push_back(owner_of_module(module.path, program));
    is_transparent_.push_back(is_transparent_module(module.path));
  }
}

const Owner& StackOwners::of(uint32_t native_stack) {
  const auto [entry, added] = module_of_stack_.try_emplace(native_stack, kNoModule);
  if (added) {
    for (const NativeFrame& frame : session_.native_stacks.find(native_stack)) {
      if (frame.module >= module_owners_.size() || is_transparent_[frame.module]) continue;
      entry->second = frame.module;
      break;
    }
  }
  return entry->second == kNoModule ? unknown_ : module_owners_[entry->second];
}

}  // namespace vramscope
