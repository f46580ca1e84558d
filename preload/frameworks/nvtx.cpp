// NVTX: ranges and marks that the program and its libraries set, as marks of the session.
//
// Every library that uses NVTX brings a copy of it, whose first call loads the library that
// NVTX_INJECTION64_PATH names (nvtx_injection.c) and lets it put functions into the copy's tables.
// What is not put there stays the no-op that it is without a tool. Colours, categories, payloads
// and names of threads and objects are not recorded.
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "preload/frameworks/nvtx_text.h"
#include "preload/frameworks/open_ranges.h"
#include "preload/hooks/driver_call.h"
#include "preload/hooks/first_event.h"
#include "recorder/recorder.h"

namespace vramscope {
namespace {

constexpr auto kNoDomain = nvtxDomainHandle_t{};

void mark(RecordKind kind, nvtxDomainHandle_t domain, std::string_view message = {},
          uint64_t range = 0) {
  const int saved_errno = errno;
  const Mark made{kind, now_ticks(), range, text_of_handle(domain), message};
  if (!record_mark(made)) remember_mark(made);
  errno = saved_errno;
}

template <typename Message>
void mark_message(Message message) {
  mark(RecordKind::kMark, kNoDomain, NvtxText(message).view());
}

void mark_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  mark(RecordKind::kMark, domain, NvtxText(attributes).view());
}

// Pushes and pops return what they return without a tool: nobody counts the depth.
int push_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  mark(RecordKind::kRangePush, domain, NvtxText(attributes).view());
  return NVTX_NO_PUSH_POP_TRACKING;
}

template <typename Message>
int push(Message message) {
  mark(RecordKind::kRangePush, kNoDomain, NvtxText(message).view());
  return NVTX_NO_PUSH_POP_TRACKING;
}

int pop_in_domain(nvtxDomainHandle_t domain) {
  mark(RecordKind::kRangePop, domain);
  return NVTX_NO_PUSH_POP_TRACKING;
}

int pop() { return pop_in_domain(kNoDomain); }

nvtxRangeId_t start_range(nvtxDomainHandle_t domain, std::string_view message) {
  static constinit std::atomic<nvtxRangeId_t> last = 0;
  const nvtxRangeId_t range = last.fetch_add(1, std::memory_order_relaxed) + 1;
  mark(RecordKind::kRangeStart, domain, message, range);
  return range;
}

nvtxRangeId_t start_in_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  return start_range(domain, NvtxText(attributes).view());
}

template <typename Message>
nvtxRangeId_t start(Message message) {
  return start_range(kNoDomain, NvtxText(message).view());
}

void end_in_domain(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  mark(RecordKind::kRangeEnd, domain, {}, range);
}

void end(nvtxRangeId_t range) { end_in_domain(kNoDomain, range); }

template <typename Handle, typename Character>
Handle handle_of_text(const Character* text) {
  const int saved_errno = errno;
  const auto handle = handle_of<Handle>(NvtxText(text).view());
  errno = saved_errno;
  return handle;
}

template <typename Character>
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const Character* text) {
  return handle_of_text<nvtxStringHandle_t>(text);
}

struct Row {
  uint32_t id;
  NvtxFunctionPointer function;
};

// The type of NVTX's table entry decides: a function that does not fit does not compile.
template <typename Function>
Row row(uint32_t id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

using Attributes = const nvtxEventAttributes_t*;

const Row kCoreRows[] = {
    row<void(Attributes)>(NVTX_CBID_CORE_MarkEx, mark_message),
    row<void(const char*)>(NVTX_CBID_CORE_MarkA, mark_message),
    row<void(const wchar_t*)>(NVTX_CBID_CORE_MarkW, mark_message),
    row<nvtxRangeId_t(Attributes)>(NVTX_CBID_CORE_RangeStartEx, start),
    row<nvtxRangeId_t(const char*)>(NVTX_CBID_CORE_RangeStartA, start),
    row<nvtxRangeId_t(const wchar_t*)>(NVTX_CBID_CORE_RangeStartW, start),
    row(NVTX_CBID_CORE_RangeEnd, end),
    row<int(Attributes)>(NVTX_CBID_CORE_RangePushEx, push),
    row<int(const char*)>(NVTX_CBID_CORE_RangePushA, push),
    row<int(const wchar_t*)>(NVTX_CBID_CORE_RangePushW, push),
    row(NVTX_CBID_CORE_RangePop, pop),
};

const Row kDomainRows[] = {
    row(NVTX_CBID_CORE2_DomainMarkEx, mark_in_domain),
    row(NVTX_CBID_CORE2_DomainRangeStartEx, start_in_domain),
    row(NVTX_CBID_CORE2_DomainRangeEnd, end_in_domain),
    row(NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain),
    row(NVTX_CBID_CORE2_DomainRangePop, pop_in_domain),
    row(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>),
    row(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>),
    row(NVTX_CBID_CORE2_DomainCreateA, handle_of_text<nvtxDomainHandle_t, char>),
    row(NVTX_CBID_CORE2_DomainCreateW, handle_of_text<nvtxDomainHandle_t, wchar_t>),
};

template <size_t kRows>
void put_into(const NvtxExportTableCallbacks& nvtx, NvtxCallbackModule module,
              const Row (&rows)[kRows]) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (nvtx.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Row& each : rows) {
    if (each.id < size && table[each.id] != nullptr) *table[each.id] = each.function;
  }
}

}  // namespace

// Called by libvramscope_nvtx.so, once for every copy of NVTX in the process; see core_interface.h.
extern "C" [[gnu::visibility("default")]] int vramscope_core_nvtx(
    const void* (*get_export_table)(uint32_t id)) {
  const auto* nvtx =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (nvtx == nullptr || nvtx->struct_size < sizeof(*nvtx)) return 0;
  set_thread_listener(after_first_event);
  put_into(*nvtx, NVTX_CB_MODULE_CORE, kCoreRows);
  put_into(*nvtx, NVTX_CB_MODULE_CORE2, kDomainRows);
  return 1;
}

}  // namespace vramscope
