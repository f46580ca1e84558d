// What the core puts into a program's copy of NVTX, against a recorder of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "recorder/log.h"
#include "recorder/recorder.h"

extern "C" int vramscope_core_nvtx(const void* (*get_export_table)(uint32_t id));

namespace vramscope {

namespace {
bool has_session = false;
uint64_t clock_ticks = 0;
std::vector<std::string> recorded;
void (*thread_listener)() = nullptr;
}  // namespace

// The recorder that the core is linked with here.
uint64_t now_ticks() { return ++clock_ticks; }
uint64_t now_ticks_before_call() { return now_ticks(); }
bool record_mark(const Mark& mark) {
  if (!has_session) return false;
  std::string line = std::to_string(static_cast<int>(mark.kind));
  line.append(" ").append(mark.domain).append("|").append(mark.message);
  if (mark.range != 0) line += " #" + std::to_string(mark.range);
  recorded.push_back(line + " @" + std::to_string(mark.ticks));
  errno = EIO;
  return true;
}
void set_thread_listener(void (*listener)()) { thread_listener = listener; }
void record(Event&, const CallSite&) {}
void record_scope(uint64_t) {}
void record_plain(const Event&) {}
void log_warning(const char*, ...) {}
void set_api_names(const char* const*, uint16_t) {}
void finish_recording() {}

namespace {

// A program's copy of NVTX: tables of pointers to its functions.
NvtxFunctionPointer core_functions[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer domain_functions[NVTX_CBID_CORE2_SIZE];
NvtxFunctionPointer* core_table[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* domain_table[NVTX_CBID_CORE2_SIZE];

int get_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned int* size) {
  if (module == NVTX_CB_MODULE_CORE) {
    *table = core_table;
    *size = NVTX_CBID_CORE_SIZE;
    return 1;
  }
  if (module != NVTX_CB_MODULE_CORE2) return 0;
  *table = domain_table;
  *size = NVTX_CBID_CORE2_SIZE;
  return 1;
}

const void* get_export_table(uint32_t id) {
  static const NvtxExportTableCallbacks kCallbacks = {sizeof(NvtxExportTableCallbacks), get_table};
  return id == NVTX_ETID_CALLBACKS ? &kCallbacks : nullptr;
}

template <typename Function>
Function* core(uint32_t id) {
  return reinterpret_cast<Function*>(core_functions[id]);
}
template <typename Function>
Function* domain(uint32_t id) {
  return reinterpret_cast<Function*>(domain_functions[id]);
}

int push(const char* text) { return core<int(const char*)>(NVTX_CBID_CORE_RangePushA)(text); }
int pop() { return core<int()>(NVTX_CBID_CORE_RangePop)(); }
uint64_t start(const char* text) {
  return core<uint64_t(const char*)>(NVTX_CBID_CORE_RangeStartA)(text);
}
void end(uint64_t range) { core<void(uint64_t)>(NVTX_CBID_CORE_RangeEnd)(range); }

using Lines = std::vector<std::string>;

class PreloadNvtx : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < std::size(core_table); ++i) core_table[i] = &core_functions[i];
    for (size_t i = 0; i < std::size(domain_table); ++i) domain_table[i] = &domain_functions[i];
    core_table[NVTX_CBID_CORE_NameCategoryA] = nullptr;
    ASSERT_EQ(vramscope_core_nvtx(get_export_table), 1);
    recorded.clear();
    has_session = true;
    clock_ticks = 100;
  }
  void TearDown() override { recorded.clear(); }
};

TEST_F(PreloadNvtx, EveryCallIsAMarkWithItsTextAndTime) {
  errno = 0;
  EXPECT_EQ(push("a"), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(pop(), NVTX_NO_PUSH_POP_TRACKING);
  core<void(const wchar_t*)>(NVTX_CBID_CORE_MarkW)(L"\u00e9\u6771\U0001f600");
  const uint64_t range = start("r");
  end(range);
  push(nullptr);
  EXPECT_EQ(errno, 0);
  const std::string number = "#" + std::to_string(range);
  EXPECT_EQ(recorded,
            (Lines{"40 |a @101", "41 | @102", "44 |\u00e9\u6771\U0001f600 @103",
                   "42 |r " + number + " @104", "43 | " + number + " @105", "40 | @106"}));
}

TEST_F(PreloadNvtx, DomainsAndRegisteredStringsAreKnownByTheirText) {
  auto* create = domain<nvtxDomainHandle_t(const char*)>(NVTX_CBID_CORE2_DomainCreateA);
  auto* enroll = domain<nvtxStringHandle_t(nvtxDomainHandle_t, const char*)>(
      NVTX_CBID_CORE2_DomainRegisterStringA);
  const nvtxDomainHandle_t app = create("app");
  EXPECT_NE(app, nullptr);
  EXPECT_EQ(create("app"), app);
  EXPECT_NE(create("other"), app);

  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  auto* mark =
      domain<void(nvtxDomainHandle_t, const nvtxEventAttributes_t*)>(NVTX_CBID_CORE2_DomainMarkEx);
  mark(app, &attributes);  // no message
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = enroll(app, "text");
  mark(app, &attributes);
  attributes.messageType = 77;  // of a later version
  mark(nullptr, &attributes);
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "cut off";
  attributes.size = 8;  // of an earlier version
  mark(nullptr, &attributes);
  mark(nullptr, nullptr);
  EXPECT_EQ(recorded,
            (Lines{"44 app| @101", "44 app|text @102", "44 | @103", "44 | @104", "44 | @105"}));
}

TEST_F(PreloadNvtx, RangesThatAreOpenWhenTheSessionBeginsAreRecordedThen) {
  has_session = false;
  push("outer");                                     // 101
  push("closed");                                    // 102
  pop();                                             // 103
  push("inner");                                     // 104
  const uint64_t open = start("open");               // 105
  end(start("ended"));                               // 106, 107
  std::thread([] { push("other thread"); }).join();  // 108
  EXPECT_TRUE(recorded.empty());

  has_session = true;
  ASSERT_NE(thread_listener, nullptr);
  thread_listener();
  std::ranges::sort(recorded);
  const std::string number = "#" + std::to_string(open);
  EXPECT_EQ(recorded, (Lines{"40 |inner @104", "40 |outer @101", "42 |open " + number + " @105"}));
  recorded.clear();
  thread_listener();
  EXPECT_TRUE(recorded.empty());
}

TEST_F(PreloadNvtx, MoreOpenRangesThanThereIsRoomForAreLeftOut) {
  has_session = false;
  for (int i = 0; i < 1000; ++i) push("deep");
  has_session = true;
  thread_listener();
  EXPECT_LE(recorded.size(), 64u);  // places; one may hold the other thread's range of before
  EXPECT_GE(recorded.size(), 63u);
  for (int i = 0; i < 1000; ++i) pop();
}

TEST_F(PreloadNvtx, AnUnknownNvtxIsLeftAlone) {
  EXPECT_EQ(vramscope_core_nvtx([](uint32_t) -> const void* { return nullptr; }), 0);
}

}  // namespace
}  // namespace vramscope
