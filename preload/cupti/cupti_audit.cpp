// libvramscope_cupti.so: CUPTI's records of memory, as a second account beside the hooks'.
//
// libcupti is not linked: it is the one that the job has loaded, else the one that the linker
// finds. Of its headers only types and numbers are used. The records of all versions since
// CUDA 11.2 begin alike (CUpti_ActivityMemory2, 3, 4); only that beginning is read.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "preload/cupti/cupti_interface.h"

namespace vramscope {
namespace {

constexpr uint32_t kOldestVersion = 15;  // of CUDA 11.2: MEMORY2
constexpr size_t kBufferBytes = 256 << 10;
constexpr size_t kBufferAlignment = 8;

struct Cupti {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
};

// Set before CUPTI calls back; immortal.
Cupti cupti;
const CuptiServices* services = nullptr;
std::atomic<bool> is_running = false;

void* find_library() {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return loaded;
  }
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    if (void* loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return loaded;
  }
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const char* find_functions(void* library) {
  const bool found = find(library, "cuptiGetVersion", cupti.get_version) &&
                     find(library, "cuptiSubscribe", cupti.subscribe) &&
                     find(library, "cuptiUnsubscribe", cupti.unsubscribe) &&
                     find(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
                     find(library, "cuptiActivityEnable", cupti.enable) &&
                     find(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
                     find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records) &&
                     find(library, "cuptiActivityFlushAll", cupti.flush) &&
                     find(library, "cuptiGetResultString", cupti.result_string);
  return found ? nullptr : "libcupti lacks functions that the audit needs";
}

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void hand_over(const CUpti_Activity* record) {
  if (record->kind != CUPTI_ACTIVITY_KIND_MEMORY2) return;
  const auto& memory = *reinterpret_cast<const CUpti_ActivityMemory4*>(record);
  CuptiOperation operation = {};
  operation.is_release = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  operation.device = static_cast<int8_t>(memory.deviceId);
  operation.memory_kind = memory.memoryKind;
  operation.address = memory.address;
  operation.bytes = memory.bytes;
  operation.stream = memory.streamId;
  services->operation(operation);
}

void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                              size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 && cupti.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    hand_over(record);
  }
  size_t lost = 0;
  if (cupti.dropped_records(context, stream, &lost) == CUPTI_SUCCESS && lost > 0) {
    services->lost(lost);
  }
  std::free(buffer);
}

// Subscribing shows whether another tool holds the only place; nothing is listened to.
void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

struct Failure {
  const char* what;  // nullptr: none
  CUptiResult result;
};

Failure start() {
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult result = cupti.subscribe(&subscriber, ignore, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return {"another tool holds CUPTI's only place (torch.profiler, Nsight...)", result};
  }
  if (result != CUPTI_SUCCESS) return {"cuptiSubscribe failed", result};
  const char* failed = "cuptiActivityRegisterCallbacks failed";
  result = cupti.register_callbacks(request_buffer, complete_buffer);
  if (result == CUPTI_SUCCESS) {
    failed = "cuptiActivityEnable failed";
    result = cupti.enable(CUPTI_ACTIVITY_KIND_MEMORY2);
  }
  if (result == CUPTI_SUCCESS) return {nullptr, result};
  cupti.unsubscribe(subscriber);
  return {failed, result};
}

const char* text_of(CUptiResult result) {
  const char* text = nullptr;
  if (cupti.result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) return "no such code";
  return text;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] bool vramscope_cupti_start(
    const CuptiServices* given_services, char* problem, size_t problem_bytes) {
  services = given_services;
  void* library = find_library();
  const char* missing = library == nullptr ? "no libcupti found" : find_functions(library);
  if (missing != nullptr) {
    std::snprintf(problem, problem_bytes, "%s", missing);
    return false;
  }
  uint32_t version = 0;
  if (cupti.get_version(&version) != CUPTI_SUCCESS || version < kOldestVersion) {
    std::snprintf(problem, problem_bytes, "version %u is older than CUDA 11.2's (%u)", version,
                  kOldestVersion);
    return false;
  }
  const Failure failure = start();
  if (failure.what != nullptr) {
    std::snprintf(problem, problem_bytes, "%s (%d: %s)", failure.what,
                  static_cast<int>(failure.result), text_of(failure.result));
    return false;
  }
  is_running.store(true);
  return true;
}

extern "C" [[gnu::visibility("default")]] void vramscope_cupti_flush() {
  if (is_running.load()) cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

}  // namespace vramscope
