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
    {"libtriton", "Triton"},
    {"libxla", "XLA"},
    {"xla_", "XLA"},
    {"libtensorflow", "TensorFlow"},
    {"libonnxruntime", "ONNX Runtime"},
    {"libnvinfer", "TensorRT"},
};

constexpr std::string_view kTransparentLibraries[] = {
    "libcuda.so", "libcudart", "libvramscope", "ld-linux", "linux-vdso", "[vdso]", "libcupti",
};

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Owner owner_of_module(std::string_view path, std::string_view executable) {
  const std::string_view name = file_name(path);
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

ModuleRanges::ModuleRanges(const std::vector<NativeModule>& modules) {
  for (uint32_t i = 0; i < modules.size(); ++i) {
    const uint64_t begin = modules[i].begin;
    const uint64_t end = modules[i].end;
    if (begin >= end) continue;
    auto old = ranges_.lower_bound(begin);
    if (old != ranges_.begin() && std::prev(old)->second.end > begin) --old;
    while (old != ranges_.end() && old->first < end) {
      const auto [old_begin, range] = *old;
      old = ranges_.erase(old);
      if (old_begin < begin) ranges_.emplace(old_begin, Range{begin, range.module});
      if (range.end > end) ranges_.emplace(end, Range{range.end, range.module});
    }
    ranges_.emplace(begin, Range{end, i});
  }
}

uint32_t ModuleRanges::find(uint64_t return_address) const {
  const uint64_t call = return_address - 1;  // a call may be the last instruction of its module
  auto range = ranges_.upper_bound(call);
  if (range == ranges_.begin()) return kNone;
  --range;
  return call < range->second.end ? range->second.module : kNone;
}

StackOwners::StackOwners(const Session& session) : session_(session), ranges_(session.modules) {
  const auto executable = session.info.find("executable");
  const std::string_view program =
      executable == session.info.end() ? std::string_view() : executable->second;
  for (const NativeModule& module : session.modules) {
    module_owners_.push_back(owner_of_module(module.path, program));
    is_transparent_.push_back(is_transparent_module(module.path));
  }
}

const Owner& StackOwners::of(uint32_t native_stack) {
  const auto [entry, added] = module_of_stack_.try_emplace(native_stack, ModuleRanges::kNone);
  if (added) {
    for (const uint64_t address : session_.native_stacks.find(native_stack)) {
      const uint32_t module = ranges_.find(address);
      if (module == ModuleRanges::kNone || is_transparent_[module]) continue;
      entry->second = module;
      break;
    }
  }
  return entry->second == ModuleRanges::kNone ? unknown_ : module_owners_[entry->second];
}

}  // namespace vramscope
