#include "tools/simgpu/driver/call_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

namespace simgpu {
namespace {

constexpr std::string_view kHeader =
    "#pid\ttid\tapi\tresult\tdevice\taddress\tsize\tstream\thandle\n";

void write_all(int descriptor, std::string_view text) {
  // A partial write (disk full) cannot be repaired without splitting the line: the line is lost.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

// Makes the file appear with its header in it, so that no other process can write a line before the
// header. Does nothing where the file exists, or is no regular file.
void create_with_header(const std::string& path) {
  const std::string unfinished = path + "." + std::to_string(::getpid());
  const int descriptor = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  write_all(descriptor, kHeader);
  ::close(descriptor);
  [[maybe_unused]] const int exists = ::link(unfinished.c_str(), path.c_str());
  ::unlink(unfinished.c_str());
}

// Which calls of the driver concern memory; sorted.
constexpr std::string_view kMemoryCalls[] = {
    "cuArray3DCreate",
    "cuArrayCreate",
    "cuArrayDestroy",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuDestroyExternalMemory",
    "cuDeviceGetDefaultMemPool",
    "cuDeviceGetMemPool",
    "cuDeviceGraphMemTrim",
    "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceSetMemPool",
    "cuExternalMemoryGetMappedBuffer",
    "cuExternalMemoryGetMappedMipmappedArray",
    "cuGraphAddMemAllocNode",
    "cuGraphAddMemFreeNode",
    "cuGraphAddNode",
    "cuGreenCtxCreate",
    "cuGreenCtxDestroy",
    "cuImportExternalMemory",
    "cuIpcCloseMemHandle",
    "cuIpcGetMemHandle",
    "cuIpcOpenMemHandle",
    "cuLibraryLoadData",
    "cuLibraryLoadFromFile",
    "cuLibraryUnload",
    "cuMemAddressFree",
    "cuMemAddressReserve",
    "cuMemAlloc",
    "cuMemAllocAsync",
    "cuMemAllocFromPoolAsync",
    "cuMemAllocHost",
    "cuMemAllocManaged",
    "cuMemAllocPitch",
    "cuMemCreate",
    "cuMemExportToShareableHandle",
    "cuMemFree",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemGetDefaultMemPool",
    "cuMemGetMemPool",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuMemImportFromShareableHandle",
    "cuMemMap",
    "cuMemMapArrayAsync",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolExportPointer",
    "cuMemPoolExportToShareableHandle",
    "cuMemPoolImportFromShareableHandle",
    "cuMemPoolImportPointer",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemRelease",
    "cuMemRetainAllocationHandle",
    "cuMemSetAccess",
    "cuMemSetMemPool",
    "cuMemUnmap",
    "cuMipmappedArrayCreate",
    "cuMipmappedArrayDestroy",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cuModuleUnload",
    "cuMulticastAddDevice",
    "cuMulticastBindAddr",
    "cuMulticastBindMem",
    "cuMulticastCreate",
    "cuMulticastUnbind",
};

}  // namespace

CallLog::CallLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  create_with_header(path);
  is_open_ = open_file();
  if (is_open_) return;
  std::fprintf(stderr, "simgpu: VRAMSCOPE_SIM_LOG=%s: %s; no log is written\n", path.c_str(),
               std::strerror(errno));
}

bool CallLog::open_file() {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

// Programs that become daemons close every descriptor; the number may be somebody else's file now.
bool CallLog::own_descriptor() {
  struct stat status {};
  const bool is_ours =
      ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  return is_ours || open_file();
}

void CallLog::append(const MemoryCall& call, int result) {
  char line[256];
  const int length = std::snprintf(
      line, sizeof line, "%d\t%d\t%s\t%d\t%d\t0x%llx\t%llu\t0x%llx\t0x%llx\n", ::getpid(),
      ::gettid(), call.api, result, call.device, static_cast<unsigned long long>(call.address),
      static_cast<unsigned long long>(call.size), static_cast<unsigned long long>(call.stream),
      static_cast<unsigned long long>(call.handle));
  if (length > 0 && own_descriptor())
    write_all(descriptor_, {line, std::min<size_t>(length, sizeof line - 1)});
}

bool is_memory_call(const std::string& base_name) {
  return std::binary_search(std::begin(kMemoryCalls), std::end(kMemoryCalls), base_name);
}

}  // namespace simgpu
