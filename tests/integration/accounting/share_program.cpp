// One process takes memory and shares it, another one uses it.
// Usage: share_program           takes and shares, then runs itself with the handles as arguments
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/integration/edges/edge_calls.h"

namespace {

using edges::check;
using edges::kMiB;

constexpr size_t kMappedBytes = 4 * kMiB;
constexpr auto kByDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

std::string hexadecimal(const CUipcMemHandle& handle) {
  std::string text;
  for (const char byte : handle.reserved) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

CUipcMemHandle handle_of(const std::string& text) {
  CUipcMemHandle handle;
  for (size_t i = 0; i < sizeof handle.reserved; ++i)
    handle.reserved[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return handle;
}

// Mapped once, as its owner and its user both do.
void map(CUmemGenericAllocationHandle memory) {
  CUdeviceptr address = 0;
  CHECK(cuMemAddressReserve(&address, kMappedBytes, 0, 0, 0));
  CHECK(cuMemMap(address, kMappedBytes, 0, memory, 0));
}

int share(const char* program) {
  edges::use_device(0);
  CUipcMemHandle handle;
  CHECK(cuIpcGetMemHandle(&handle, edges::allocate(8 * kMiB)));
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = kByDescriptor;
  CUmemGenericAllocationHandle memory = 0;
  int exported = -1;
  CHECK(cuMemCreate(&memory, kMappedBytes, &properties, 0));
  CHECK(cuMemExportToShareableHandle(&exported, memory, kByDescriptor, 0));
  map(memory);
  const std::string descriptor = std::to_string(dup(exported));  // not closed by exec
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, hexadecimal(handle).c_str(), descriptor.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int use(const char* handle, const char* descriptor) {
  edges::use_device(0);
  CUdeviceptr opened = 0;
  CHECK(cuIpcOpenMemHandle(&opened, handle_of(handle), CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CUmemGenericAllocationHandle memory = 0;
  const auto number = static_cast<uintptr_t>(std::stoi(descriptor));
  CHECK(cuMemImportFromShareableHandle(&memory, reinterpret_cast<void*>(number), kByDescriptor));
  map(memory);
  CHECK(cuMemRelease(memory));
  CHECK(cuIpcCloseMemHandle(opened));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 3 ? use(argv[1], argv[2]) : share(argv[0]); }
