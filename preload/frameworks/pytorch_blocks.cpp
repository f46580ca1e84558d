#include "preload/frameworks/pytorch_blocks.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "api.h"
#include "preload/frameworks/pytorch_requests.h"
#include "preload/hooks/driver_call.h"
#include "recorder/recorder.h"

namespace vramscope {
namespace {

// c10::Device: passed and returned in one register.
struct Device {
  int8_t type;
  int8_t index;

  bool operator==(const Device&) const = default;
};
static_assert(sizeof(Device) == 2);
constexpr int8_t kCudaDevice = 1;

// c10::cuda::CUDAStream: 16 bytes, trivially copyable, returned in two registers.
struct CudaStream {
  Device device;
  int64_t id;

  bool operator==(const CudaStream&) const = default;
};
static_assert(sizeof(CudaStream) == 16);

constexpr Api kUsageApi = Api::_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE;
constexpr Api kOutOfMemoryApi = Api::_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE;

using ReportUsage = void(void* address, int64_t size, size_t total_allocated, size_t total_reserved,
                         Device device);
using ReportOutOfMemory = void(int64_t size, size_t total_allocated, size_t total_reserved,
                               Device device);

template <typename Report>
Report* real_report(Api api) {
  return reinterpret_cast<Report*>(shim_services().real_function(static_cast<uint32_t>(api)));
}

// c10::cuda::getCurrentCUDAStream(signed char) and c10::cuda::CUDAStream::stream() const. Both read
// thread-local state and a table; the allocator has called them for the same stream just before.
using GetCurrentStream = CudaStream (*)(int8_t device_index);
using GetDriverStream = void* (*)(const CudaStream* self);

// What every block needs of PyTorch, in one cache line.
struct PyTorch {
  std::atomic<ReportUsage*> report_usage = nullptr;  // real_report() of it
  std::atomic<GetCurrentStream> current_stream = nullptr;
  std::atomic<GetDriverStream> driver_stream = nullptr;
};
alignas(64) constinit PyTorch pytorch{};

[[gnu::noinline, gnu::cold]] ReportUsage* find_real_report_usage() {
  auto* real = real_report<ReportUsage>(kUsageApi);
  pytorch.report_usage.store(real, std::memory_order_relaxed);
  return real;
}

void find_libc10_cuda_symbols() {
  const auto find = [](const char* symbol) {
    return shim_services().loaded_symbol("libc10_cuda.so", symbol);
  };
  follow_requests_of(
      static_cast<const void* const*>(find("_ZN3c104cuda20CUDACachingAllocator9allocatorE")));
  void* current = find("_ZN3c104cuda20getCurrentCUDAStreamEa");
  void* driver = find("_ZNK3c104cuda10CUDAStream6streamEv");
  if (current == nullptr || driver == nullptr) return;
  pytorch.current_stream.store(reinterpret_cast<GetCurrentStream>(current),
                               std::memory_order_relaxed);
  pytorch.driver_stream.store(reinterpret_cast<GetDriverStream>(driver), std::memory_order_release);
}

// PyTorch may have been loaded after the core; where a block is reported it is there. One try
// tells.
[[gnu::noinline, gnu::cold]] GetDriverStream find_libc10_cuda_symbols_once_more() {
  static std::atomic<bool> tried = false;
  if (!tried.exchange(true, std::memory_order_relaxed)) find_libc10_cuda_symbols();
  return pytorch.driver_stream.load(std::memory_order_acquire);
}

// What a thread's last block said of its streams. PyTorch keeps the current streams in a
// thread-local object. Once that is destroyed, at the thread's end, stream() throws on what is left
// of it, while static tensors are still freed.
struct KnownStream {
  CudaStream stream;
  uint64_t driver_stream;
  bool is_known;
  bool mark_is_made;
  bool streams_are_gone;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local KnownStream known_stream{};

struct StreamsAreGoneAfter {
  ~StreamsAreGoneAfter() { known_stream.streams_are_gone = true; }
};

[[gnu::noinline, gnu::cold]] void make_mark_of_thread_end() {
  static thread_local StreamsAreGoneAfter mark;
  (void)mark;
  known_stream.mark_is_made = true;
}

// The driver's handle of the thread's current stream on the device; 0, the default stream, also
// where this PyTorch does not tell. stream() switches devices to and fro, so it is asked only where
// the stream is another than before: a CUDAStream stands for one driver stream for ever.
[[gnu::hot]] uint64_t current_stream(int8_t device_index) {
  KnownStream& known = known_stream;
  if (known.streams_are_gone) return 0;
  GetDriverStream driver = pytorch.driver_stream.load(std::memory_order_acquire);
  if (driver == nullptr) driver = find_libc10_cuda_symbols_once_more();
  if (driver == nullptr) return 0;
  const CudaStream stream = pytorch.current_stream.load(std::memory_order_relaxed)(device_index);
  // Made after PyTorch's object, which the call above has made: destroyed before it.
  if (!known.mark_is_made) [[unlikely]]
    make_mark_of_thread_end();
  if (!known.is_known || stream != known.stream) {
    known.stream = stream;
    known.driver_stream = bits(driver(&stream));
    known.is_known = true;
  }
  return known.driver_stream;
}

Event block_event(RecordKind kind, Api api, Device device, uint64_t size, size_t total_allocated,
                  size_t total_reserved) {
  Event event{};
  event.kind = kind;
  event.api = static_cast<uint16_t>(api);
  event.device = device.index;
  event.size = size;
  if (kind != RecordKind::kBlockAlloc) event.handle = total_allocated;
  event.extra = total_reserved;
  // A block is freed on the stream that it was made for, whichever is current then.
  if (kind != RecordKind::kBlockFree) event.stream = current_stream(device.index);
  return event;
}

// To be recorded before `event`, at its time.
[[gnu::cold, gnu::noinline]] void record_pending_frees(const Event& event, uint64_t bytes) {
  Event pending{};
  pending.kind = RecordKind::kBlockPending;
  pending.device = event.device;
  pending.ticks = event.ticks;
  pending.size = bytes;
  record_plain(pending);
}

[[gnu::hot]] void report_usage(void* address, int64_t size, size_t total_allocated,
                               size_t total_reserved, Device device) {
  auto* real = pytorch.report_usage.load(std::memory_order_relaxed);
  if (real == nullptr) [[unlikely]]
    real = find_real_report_usage();
  if (device.type != kCudaDevice)
    return real(address, size, total_allocated, total_reserved, device);
  const bool frees = size < 0;
  const uint64_t ticks_before = frees ? now_ticks_before_call() : 0;
  real(address, size, total_allocated, total_reserved, device);
  const int real_errno = errno;
  Event event =
      block_event(frees ? RecordKind::kBlockFree : RecordKind::kBlockAlloc, kUsageApi, device,
                  static_cast<uint64_t>(frees ? -size : size), total_allocated, total_reserved);
  event.address = bits(address);
  event.ticks = frees ? ticks_before : now_ticks();
  if (!frees) event.handle = requested_bytes({device.index, event.size, total_reserved});
  if (const auto bytes = changed_pending_bytes(event.device)) [[unlikely]]
    record_pending_frees(event, *bytes);
  record(event, caller_of(__builtin_frame_address(0)));
  errno = real_errno;
}

void report_out_of_memory(int64_t size, size_t total_allocated, size_t total_reserved,
                          Device device) {
  real_report<ReportOutOfMemory>(kOutOfMemoryApi)(size, total_allocated, total_reserved, device);
  if (device.type != kCudaDevice) return;
  const int real_errno = errno;
  Event event = block_event(RecordKind::kBlockOom, kOutOfMemoryApi, device,
                            static_cast<uint64_t>(size), total_allocated, total_reserved);
  event.address = free_bytes_plus_one();
  event.ticks = now_ticks();
  if (const auto bytes = changed_pending_bytes(event.device)) [[unlikely]]
    record_pending_frees(event, *bytes);
  record(event, caller_of(__builtin_frame_address(0)));
  errno = real_errno;
}

template <typename Report>
void attach(void** wrappers, Api api, Report* wrapper) {
  wrappers[static_cast<uint16_t>(api)] = reinterpret_cast<void*>(wrapper);
}

}  // namespace

void attach_pytorch_hooks(void** wrappers) {
  attach<ReportUsage>(wrappers, kUsageApi, report_usage);
  attach<ReportOutOfMemory>(wrappers, kOutOfMemoryApi, report_out_of_memory);
}

void find_pytorch() {
  find_libc10_cuda_symbols();
  real_report<ReportUsage>(kUsageApi);
  real_report<ReportOutOfMemory>(kOutOfMemoryApi);
}

}  // namespace vramscope
