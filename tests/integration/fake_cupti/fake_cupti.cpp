// A libcupti whose behaviour FAKE_CUPTI chooses: `old`, `taken`, `failing`; else it works, and its
// records are what the program says through fake_cupti_report().
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

namespace {

std::mutex mutex;
std::vector<CUpti_ActivityMemory4> records;
CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;

bool behaves(std::string_view as) {
  const char* chosen = std::getenv("FAKE_CUPTI");
  return chosen != nullptr && as == chosen;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void fake_cupti_report(int is_release, uint64_t address, uint64_t bytes, int memory_kind) {
  CUpti_ActivityMemory4 record = {};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = is_release != 0 ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                               : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(memory_kind);
  record.address = address;
  record.bytes = bytes;
  const std::lock_guard lock(mutex);
  records.push_back(record);
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = behaves("old") ? 12 : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  if (behaves("taken")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  *subscriber = nullptr;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  return behaves("failing") ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, CUpti_Activity** record) {
  auto* next = *record == nullptr
                   ? buffer
                   : reinterpret_cast<uint8_t*>(*record) + sizeof(CUpti_ActivityMemory4);
  if (next + sizeof(CUpti_ActivityMemory4) > buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = 2;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard lock(mutex);
  uint8_t* buffer = nullptr;
  size_t bytes = 0;
  size_t limit = 0;
  request_buffer(&buffer, &bytes, &limit);
  const size_t valid = records.size() * sizeof(CUpti_ActivityMemory4);
  if (valid > bytes) std::abort();
  std::memcpy(buffer, records.data(), valid);
  records.clear();
  complete_buffer(nullptr, 0, buffer, bytes, valid);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "A_FAKE_RESULT";
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
