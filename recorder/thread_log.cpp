#include "recorder/thread_log.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace vramscope {

ThreadLog::ThreadLog(const Setup& setup)
    : stacks_(setup.python_stacks || setup.native_stacks ? make_stack_capture() : nullptr),
      python_stacks_(setup.python_stacks && stacks_ != nullptr),
      native_stacks_(setup.native_stacks && stacks_ != nullptr),
      unwind_check_(native_stacks_ ? setup.unwind_check : nullptr),
      window_(setup.window ? std::make_unique<WindowWriter>(*setup.window) : nullptr),
      writer_(setup.ring),
      api_names_(setup.api_names) {}

// What an id stands for is never dropped: where it finds no room the event is, and the id is
// defined when it is next needed. So each event that is kept comes with its whole stack.
[[gnu::hot]] bool ThreadLog::record(Event& event, const CallSite& site) {
  begin_event();
  // A counter that was read early (now_ticks_before_call) may lie before the event before.
  event.ticks = last_ticks_ = std::max(event.ticks, last_ticks_);
  if (event.api < kMaxApis && !defined_apis_[event.api]) [[unlikely]]
    define_api(event.api);
  if (python_stacks_) event.python_stack = stacks_->python(*this);
  if (native_stacks_) event.native_stack = stacks_->native(site, *this);
  if (unwind_check_ != nullptr) [[unlikely]] {
    stacks_->check_native(site, event.native_stack, *unwind_check_);
  }
  return append_if_defined(event);
}

bool ThreadLog::record_mark(const Mark& mark) {
  begin_mark();
  Event event{};
  event.kind = mark.kind;
  event.device = kNoDevice;
  event.ticks = mark.ticks;
  event.address = mark.range;
  event.handle = texts_.id_of(mark.message, *this);
  event.extra = texts_.id_of(mark.domain, *this);
  return append_if_defined(event);
}

bool ThreadLog::record_scope(uint64_t ticks) {
  if (!python_stacks_) return true;
  begin_mark();
  Event event{};
  event.kind = RecordKind::kScope;
  event.device = kNoDevice;
  event.ticks = ticks;
  event.python_stack = stacks_->python(*this);
  return event.python_stack == 0 || append_if_defined(event);
}

bool ThreadLog::record_plain(const Event& event) {
  begin_mark();
  return append_if_defined(event);
}

// Events with an api see to the thread's definition when they see to the api's.
void ThreadLog::begin_mark() {
  begin_event();
  if (!thread_defined_) thread_defined_ = define_thread();
}

[[gnu::hot]] bool ThreadLog::append_if_defined(const Event& event) {
  if (!undefined_) return append(event);
  writer_.drop(event);
  return false;
}

[[gnu::hot]] bool ThreadLog::append(const Event& event) {
  if (!window_) return writer_.append(event);
  writer_.report_dropped();
  window_->append(event);
  return true;
}

void ThreadLog::close() {
  RingFileWriter::close_ring(writer_.ring());
  if (window_) RingFileWriter::close_ring(window_->ring());
}

bool ThreadLog::define(RecordKind kind, uint32_t id,
                       std::initializer_list<std::span<const std::byte>> parts, uint8_t flags) {
  const bool defined = writer_.append_definition(kind, id, parts, flags);
  undefined_ = undefined_ || !defined;
  return defined;
}

[[gnu::cold]] bool ThreadLog::define_thread() {
  ThreadDefinition definition{};
  pthread_getname_np(pthread_self(), definition.name, sizeof(definition.name));
  const auto thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  if (!define(RecordKind::kThread, thread_id, {std::as_bytes(std::span(&definition, 1))}, 0)) {
    return false;
  }
  if (!window_) return true;
  const uint64_t position = window_->position();
  return define(RecordKind::kWindow, window_->ring().index,
                {std::as_bytes(std::span(&position, 1))}, 0);
}

[[gnu::cold]] void ThreadLog::define_api(uint16_t api) {
  if (!thread_defined_) thread_defined_ = define_thread();
  if (api >= api_names_.count) return;
  const char* name = api_names_.names[api];
  const auto bytes = std::as_bytes(std::span(name, std::strlen(name)));
  if (define(RecordKind::kApi, api, {bytes}, 0)) defined_apis_.set(api);
}

}  // namespace vramscope
