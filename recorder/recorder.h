// The recorder inside the hooked process: hooks hand it events, it puts them into the calling
// thread's ring.
//
// State is immortal: hooks may be called before constructors and after destructors. The session
// (ring file, and with plain LD_PRELOAD the drainer thread) is opened by the first event and
// belongs to the process that opened it; the child of a fork starts afresh at its own first event.
// Every function may be called by any thread, at any time, and never fails: what cannot be recorded
// is counted as lost. They may change errno.
#pragma once

#include <cstdint>
#include <string_view>

#include "recorder/record.h"
#include "recorder/stacks/stack_capture.h"

namespace vramscope {

// The session's clock now, ordered after everything that the thread did before.
uint64_t now_ticks();

// The same for what frees, taken before the real call: perhaps a moment earlier, but before any
// other thread can get what is freed. Costs less.
uint64_t now_ticks_before_call();

// Records one event. `event` comes with python_stack and native_stack 0: the recorder fills them in
// as VRAMSCOPE_STACKS asks. Blocks at most 1 ms in all where the ring is full (see
// VRAMSCOPE_OVERFLOW). Calls from inside itself (signal handlers, allocation hooks) are counted as
// lost.
void record(Event& event, const CallSite& site);

// What the program says about itself: see the kinds of marks in record.h.
struct Mark {
  RecordKind kind = RecordKind::kMark;
  uint64_t ticks = 0;
  uint64_t range = 0;  // number of a kRangeStart, kRangeEnd
  std::string_view domain;
  std::string_view message;
};

// Records a mark, without stacks. False: this process has no session. It has one from its first
// recorded event on; marks and scopes never open one, so that a process that does not use CUDA
// leaves no file.
bool record_mark(const Mark& mark);

// Records a kScope event with the thread's Python stack, without the native one; nothing if there
// is no session or the thread has no Python stack.
void record_scope(uint64_t ticks);

// Records an event as it is, without stacks and without a name for its api; nothing if there is no
// session.
void record_plain(const Event& event);

// `listener` runs in every thread that gets its log, after its first event was recorded and outside
// the recorder. Set once, before the first event.
void set_thread_listener(void (*listener)());

// Entry point names of Event::api: `names[api]`, api < count. Called once by the hooks before the
// first record(); the array must live for ever.
void set_api_names(const char* const* names, uint16_t count);

// Ends the session in good order: waits until everything is drained when this process drains itself
// (plain LD_PRELOAD), marks the ring file finished. Called by the core's destructor; later events
// are still recorded into the ring file when possible.
void finish_recording();

}  // namespace vramscope
