// Resolving entry points by name, and what happens to those that are not simulated.
#include "tools/simgpu/driver/entry_points.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

using EntryPointIndex = std::unordered_multimap<std::string_view, const EntryPoint*>;

const EntryPointIndex& entry_point_index() {
  static const auto* index = [] {
    auto* made = new EntryPointIndex;  // immortal: asked for at exit too
    for (size_t i = 0; i < kEntryPointCount; ++i) {
      made->emplace(kEntryPoints[i].base_name, &kEntryPoints[i]);
    }
    return made;
  }();
  return *index;
}

// The newest variant that the version knows, of the wanted kind. Null where there is none.
const EntryPoint* newest_variant(std::string_view name, int version, bool per_thread_stream) {
  const EntryPoint* newest = nullptr;
  const auto [begin, end] = entry_point_index().equal_range(name);
  for (auto it = begin; it != end; ++it) {
    const EntryPoint* candidate = it->second;
    if (candidate->per_thread_stream != per_thread_stream || candidate->version > version) continue;
    if (!newest || candidate->version > newest->version) newest = candidate;
  }
  return newest;
}

// "cuMemAlloc_v2_ptsz" -> "cuMemAlloc"
std::string base_name(std::string name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  const size_t version = name.rfind("_v");
  const bool has_version = version != std::string::npos && version + 2 < name.size() &&
                           name.find_first_not_of("0123456789", version + 2) == std::string::npos;
  return has_version ? name.substr(0, version) : name;
}

// The library that a code address belongs to.
std::string library_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "an unknown library";
}

// CUPTI asks for private tables too, and says itself that it cannot work without them.
bool is_cupti(const std::string& library) {
  return library.compare(library.rfind('/') + 1, 8, "libcupti") == 0;
}

// The functions that CUPTI of CUDA 13 takes from the driver if that has newer ones than its own: it
// asks before anything else, and without an answer calls itself until its stack is full. A table
// begins with its size; this one holds nothing more.
constexpr unsigned char kNewerCuptiFunctions[] = {0x7c, 0xb6, 0x3f, 0x9b, 0x9c, 0xa4, 0x8e, 0x42,
                                                  0xa4, 0x84, 0xbe, 0xb6, 0x6e, 0x6a, 0xed, 0x7f};
constexpr size_t kEmptyTable = sizeof(size_t);

bool is_ours(const std::string& library) {
  Dl_info own;
  if (!dladdr(reinterpret_cast<const void*>(&is_ours), &own) || !own.dli_fname) return false;
  const std::string own_path = own.dli_fname;
  return library.substr(0, library.rfind('/')) == own_path.substr(0, own_path.rfind('/'));
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

// Called by THUNK_UNSUPPORTED with the index of the exported name.
extern "C" CUresult simgpu_unsupported(unsigned index) {
  static std::mutex mutex;
  static auto* named = new std::set<unsigned>;
  const char* name = kExportedNames[index];
  {
    std::lock_guard lock(mutex);
    if (named->insert(index).second || driver().configuration.verbose) {
      std::fprintf(stderr, "simgpu: %s is not supported by the simulated GPU (801)\n", name);
    }
  }
  const std::string base = base_name(name);
  if (!is_memory_call(base)) return CUDA_ERROR_NOT_SUPPORTED;
  return memory_call({.api = base.c_str()},
                     [](Driver&, MemoryCall&) { return CUDA_ERROR_NOT_SUPPORTED; });
}

// Called by thunks before cuInit and in a forked child. The log is one of its own: the driver's
// state is not there, or it is the parent's.
extern "C" CUresult simgpu_not_initialized(unsigned index) {
  const std::string base = base_name(kExportedNames[index]);
  const char* path = std::getenv("VRAMSCOPE_SIM_LOG");
  if (path && is_memory_call(base)) {
    static auto* log = new CallLog(path);
    log->write({.api = base.c_str()}, CUDA_ERROR_NOT_INITIALIZED);
  }
  return CUDA_ERROR_NOT_INITIALIZED;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (!symbol) return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const EntryPoint* found = per_thread ? newest_variant(symbol, version, true) : nullptr;
  if (!found) found = newest_variant(symbol, version, false);
  if (function) *function = found ? reinterpret_cast<void*>(found->exported) : nullptr;
  const bool known = entry_point_index().count(symbol) > 0;
  if (status) {
    *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
              : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  // With a status to tell the caller, a name that is not there is no error.
  return found || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// NVIDIA's own runtime asks for private tables here and gives up without them.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  if (std::memcmp(id->bytes, kNewerCuptiFunctions, sizeof(kNewerCuptiFunctions)) == 0) {
    *table = &kEmptyTable;
    return CUDA_SUCCESS;
  }
  *table = nullptr;
  const std::string library = library_of(__builtin_return_address(0));
  static std::atomic<bool> told{false};
  if (!is_ours(library) && !is_cupti(library) && !told.exchange(true)) {
    std::fprintf(stderr,
                 "simgpu: %s: contains NVIDIA's own CUDA runtime (statically linked, or another "
                 "major version: libcudart.so.12), which refuses any driver that is not NVIDIA's; "
                 "the simulated GPU needs programs built with -cudart shared for CUDA 13\n",
                 library.c_str());
  }
  return CUDA_ERROR_NOT_FOUND;
}
