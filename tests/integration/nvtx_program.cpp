// A program with NVTX ranges, some of them opened before its first CUDA call. nvtx_test.py knows
// what it does. Arguments: `alone` makes no CUDA call.
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

constexpr size_t kMiB = 1 << 20;

void require(CUresult result) {
  if (result != CUDA_SUCCESS) std::exit(3);
}

CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr address = 0;
  require(cuMemAlloc(&address, bytes));
  return address;
}

nvtxEventAttributes_t attributes() {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

nvtxEventAttributes_t message(const char* text) {
  nvtxEventAttributes_t event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  return event;
}

nvtxEventAttributes_t message(nvtxStringHandle_t text) {
  nvtxEventAttributes_t event = attributes();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  return event;
}

CUcontext start_cuda() {
  CUcontext context = nullptr;
  require(cuInit(0));
  require(cuDevicePrimaryCtxRetain(&context, 0));
  require(cuCtxSetCurrent(context));
  return context;
}

// Twice: more names than the recorder remembers at a time.
void many_names() {
  for (int i = 0; i < 2000; ++i) {
    nvtxRangePushA(("name " + std::to_string(i % 1000)).c_str());
    nvtxRangePop();
  }
}

void allocate_in_a_thread(CUcontext context, nvtxDomainHandle_t domain, nvtxRangeId_t whole) {
  require(cuCtxSetCurrent(context));
  nvtxRangePushA("thread");
  allocate(8 * kMiB);
  nvtxRangePop();
  nvtxDomainRangeEnd(domain, whole);
}

}  // namespace

int main(int argc, char** argv) {
  const bool alone = argc > 1 && std::string(argv[1]) == "alone";
  std::printf("push %d\n", nvtxRangePushA("setup"));
  nvtxRangePushA("closed before");
  nvtxRangePop();
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const auto whole = message("whole");
  const nvtxRangeId_t whole_id = nvtxDomainRangeStartEx(domain, &whole);
  const auto too_early = message("too early");
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &too_early));
  if (alone) return 0;

  CUcontext context = start_cuda();
  const CUdeviceptr first = allocate(kMiB);
  const auto inner = message(nvtxDomainRegisterStringA(domain, "inner"));
  std::printf("push %d\n", nvtxDomainRangePushEx(domain, &inner));
  require(cuMemFree(allocate(2 * kMiB)));
  std::printf("pop %d\n", nvtxDomainRangePop(domain));
  nvtxDomainRangePop(domain);  // nothing is open there
  nvtxRangePop();

  nvtxRangePushW(L"gr\u00f6\u00dfe \u6771");
  allocate(4 * kMiB);
  nvtxRangePop();
  std::thread(allocate_in_a_thread, context, domain, whole_id).join();
  nvtxMarkA("moment");
  many_names();
  nvtxRangePushA("never closed");
  require(cuMemFree(first));
  return 0;
}
