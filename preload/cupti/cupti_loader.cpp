#include "preload/cupti/cupti_loader.h"

#include <dlfcn.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "preload/cupti/cupti_interface.h"
#include "preload/shim/neighbour.h"
#include "recorder/log.h"
#include "recorder/recorder.h"

namespace vramscope {
namespace {

constinit std::atomic<bool> was_asked = false;
constinit std::atomic<CuptiFlush> flush = nullptr;

void record_operation(const CuptiOperation& operation) {
  Event event{};
  event.kind = operation.is_release ? RecordKind::kCuptiRelease : RecordKind::kCuptiAlloc;
  event.device = operation.device;
  event.ticks = now_ticks();
  event.address = operation.address;
  event.size = operation.bytes;
  event.stream = operation.stream;
  event.extra = operation.memory_kind;
  record_plain(event);
}

void record_lost(uint64_t operations) {
  Event event{};
  event.kind = RecordKind::kCuptiLost;
  event.device = kNoDevice;
  event.ticks = now_ticks();
  event.size = operations;
  record_plain(event);
}

constexpr CuptiServices kServices = {record_operation, record_lost};

void flush_at_exit() {
  if (const CuptiFlush deliver = flush.load()) deliver();
}

bool load_and_start(char* problem, size_t problem_bytes) {
  char path[PATH_MAX];
  void* library = nullptr;
  if (path_beside(reinterpret_cast<const void*>(&start_cupti_audit_if_asked), kCuptiLibraryName,
                  path, sizeof(path))) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  const auto start =
      library == nullptr ? nullptr : reinterpret_cast<CuptiStart>(dlsym(library, kCuptiStartName));
  if (start == nullptr) {
    std::strncpy(problem, "libvramscope_cupti.so is not beside the core", problem_bytes);
    return false;
  }
  flush.store(reinterpret_cast<CuptiFlush>(dlsym(library, kCuptiFlushName)));
  return start(&kServices, problem, problem_bytes);
}

}  // namespace

void start_cupti_audit_if_asked() {
  const char* value = std::getenv("VRAMSCOPE_CUPTI");
  if (value == nullptr || std::strcmp(value, "1") != 0 || was_asked.exchange(true)) return;
  Event event{};
  event.kind = RecordKind::kCuptiStart;
  event.device = kNoDevice;
  event.ticks = now_ticks();
  char problem[200] = "";
  if (!load_and_start(problem, sizeof(problem))) {
    log_warning("VRAMSCOPE_CUPTI=1: %s; there is no audit by CUPTI", problem);
    event.result = 1;
  } else {
    std::atexit(flush_at_exit);
  }
  record_plain(event);
}

}  // namespace vramscope
