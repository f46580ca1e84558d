#include "recorder/stacks/python_runtime.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/log.h"
#include "recorder/stacks/python_codes.h"

namespace vramscope {
namespace {

enum class State : int {
  kUnknown,   // not looked for, or not there yet
  kBusy,      // some thread is looking
  kFound,     // readable, as far as the version says
  kVerified,  // and seen to agree with the interpreter
  kOff,
};

// Immortal, like everything that a hook may touch at exit.
alignas(64) constinit std::atomic<State> state{State::kUnknown};
constinit PythonRuntime the_runtime{};
constinit std::atomic<void (*)(void*)> real_code_dealloc{nullptr};

void switch_off(const char* reason) {
  if (state.exchange(State::kOff) != State::kOff) {
    log_warning("Python stacks are off: %s", reason);
  }
}

template <typename Pointer>
bool resolve(Pointer& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

// tp_dealloc of code objects, in front of the real one. GIL held.
void code_dealloc(void* code) {
  bury_python_code(code);
  real_code_dealloc.load(std::memory_order_relaxed)(code);
}

// Never undone: a thread may be on its way into our function at any later moment.
void watch_code_deaths(void* code_type, const PythonLayout& layout) {
  using Dealloc = void (*)(void*);
  auto* slot = reinterpret_cast<Dealloc*>(static_cast<std::byte*>(code_type) + layout.type_dealloc);
  const Dealloc real = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (real == &code_dealloc) return;
  real_code_dealloc.store(real, std::memory_order_relaxed);
  __atomic_store_n(slot, &code_dealloc, __ATOMIC_RELEASE);
}

// 0 if the text is not "3.X...".
unsigned minor_of(const char* version) {
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(version, "%u.%u", &major, &minor) != 2 || major != 3) return 0;
  return minor;
}

// Every how many calls a thread looks again: 1, 2, 4, ... up to 256, as a look costs about 10 us.
bool is_time_to_look() {
  constexpr unsigned kRarest = 256;
  // Each thread counts for itself: a shared count made the threads of programs without Python wait
  // for its cache line.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local unsigned calls = 0;
  const unsigned call = ++calls;
  return (call & (call - 1)) == 0 || call % kRarest == 0;
}

}  // namespace

struct PythonRuntimeFinder {
  // Fills `runtime`; the state that the process is in afterwards. All this may come before
  // Py_Initialize() and stays right over Py_Finalize(): then no thread has a PyThreadState.
  static State look(PythonRuntime& runtime) {
    const char* (*version)();
    void* code_type;
    if (!resolve(version, "Py_GetVersion") || !resolve(code_type, "PyCode_Type")) {
      return State::kUnknown;
    }
    if (!choose_layout(runtime, minor_of(version()))) return State::kOff;
    runtime.code_type_ = code_type;
    if (!resolve_api(runtime)) {
      switch_off("this CPython does not export what is needed");
      return State::kOff;
    }
    watch_code_deaths(code_type, runtime.layout_);
    return State::kFound;
  }

  static bool choose_layout(PythonRuntime& runtime, unsigned minor) {
    const PythonLayout* layout = find_python_layout(minor);
    if (layout == nullptr) {
      switch_off("only CPython 3.9 to 3.14 are supported");
      return false;
    }
    // Py_DEBUG builds alone have this symbol; their structures differ.
    if (dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") != nullptr) {
      switch_off("this is a debug build of CPython");
      return false;
    }
    runtime.layout_ = *layout;
    constexpr unsigned kFirstMinorWithDebugOffsets = 13;
    if (minor < kFirstMinorWithDebugOffsets) return true;
    const auto* published = static_cast<const std::byte*>(dlsym(RTLD_DEFAULT, "_PyRuntime"));
    switch (apply_debug_offsets(published, runtime.layout_)) {
      case DebugOffsetsError::kNone:
        return true;
      case DebugOffsetsError::kFreeThreaded:
        switch_off("this is a free-threaded build of CPython");
        return false;
      case DebugOffsetsError::kUnreadable:
        break;
    }
    switch_off("this CPython does not publish its layout (_Py_DebugOffsets)");
    return false;
  }

  static bool resolve_api(PythonRuntime& runtime) {
    return resolve(runtime.bytes_type_, "PyBytes_Type") &&
           (resolve(runtime.is_finalizing_, "Py_IsFinalizing") ||
            resolve(runtime.is_finalizing_, "_Py_IsFinalizing")) &&
           (resolve(runtime.attached_state_, "PyThreadState_GetUnchecked") ||
            resolve(runtime.attached_state_, "_PyThreadState_UncheckedGet")) &&
           resolve(runtime.globals_, "PyEval_GetGlobals") &&
           resolve(runtime.state_of_thread_, "PyGILState_GetThisThreadState");
  }
};

namespace {

[[gnu::noinline]] const PythonRuntime* look_for_one(State now) {
  if (now != State::kUnknown || !is_time_to_look()) return nullptr;
  if (!state.compare_exchange_strong(now, State::kBusy)) return nullptr;
  now = PythonRuntimeFinder::look(the_runtime);
  state.store(now, std::memory_order_release);
  return now == State::kFound ? &the_runtime : nullptr;
}

}  // namespace

[[gnu::hot]] const PythonRuntime* PythonRuntime::find() {
  const State now = state.load(std::memory_order_acquire);
  const bool is_found = now == State::kFound || now == State::kVerified;
  return is_found ? &the_runtime : look_for_one(now);
}

[[gnu::hot]] const void* PythonRuntime::thread_state() const {
  if (is_finalizing_() != 0) return nullptr;
  // A sub-interpreter's state is attached, but PyGILState knows the main interpreter's alone.
  constexpr unsigned kFirstMinorWithAttachedStatePerThread = 12;
  if (layout_.minor >= kFirstMinorWithAttachedStatePerThread) {
    if (const void* attached = attached_state_()) return attached;
  }
  return state_of_thread_();
}

bool PythonRuntime::verify(const void* thread_state, std::span<const PythonFrameKey> frames) const {
  if (state.load(std::memory_order_relaxed) == State::kVerified) [[likely]] {
    return true;
  }
  if (!frames_are_plausible(layout_, frames, code_type_, bytes_type_)) {
    switch_off("the interpreter's structures are not where this version has them");
    return false;
  }
  const bool holds_gil = attached_state_() == thread_state;
  if (!holds_gil) return true;
  if (innermost_globals(layout_, thread_state) != globals_()) {
    switch_off("the interpreter names another frame than its structures");
    return false;
  }
  State found = State::kFound;
  return state.compare_exchange_strong(found, State::kVerified) || found == State::kVerified;
}

}  // namespace vramscope
