// What a stack costs: 30 Python frames (of the interpreter that this program holds) and 50 native
// ones, the same again and again, and one that was never seen.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <benchmark/benchmark.h>
#include <execinfo.h>

#include <chrono>
#include <functional>

#include "recorder/stacks/stack_capture.h"

namespace vramscope {
namespace {

constexpr int kPythonFrames = 30;
constexpr int kNativeFrames = 50;

// Takes every definition and forgets it.
class NullSink final : public DefinitionSink {
 public:
  bool define(RecordKind, uint32_t, std::initializer_list<std::span<const std::byte>>,
              uint8_t) override {
    return true;
  }
};

std::function<void()>* innermost = nullptr;

PyObject* call_innermost(PyObject*, PyObject*) {
  (*innermost)();
  Py_RETURN_NONE;
}

// Calls `function` from below so many Python functions.
void below_python(std::function<void()> function) {
  static PyMethodDef method = {"innermost", call_innermost, METH_NOARGS, nullptr};
  if (Py_IsInitialized() == 0) Py_Initialize();
  innermost = &function;
  PyObject* main_dict = PyModule_GetDict(PyImport_AddModule("__main__"));
  PyDict_SetItemString(main_dict, "innermost", PyCFunction_New(&method, nullptr));
  PyDict_SetItemString(main_dict, "depth", PyLong_FromLong(kPythonFrames - 1));
  if (PyRun_SimpleString("def deeper(n):\n"
                         "  if n == 1:\n"
                         "    innermost()\n"
                         "  else:\n"
                         "    deeper(n - 1)\n"
                         "deeper(depth)\n") != 0) {
    std::abort();
  }
}

// Each bit of `path` chooses one of two call sites.
template <typename Function>
[[gnu::noinline]] void below_native(uint64_t path, int depth, const Function& function) {
  if (depth == 0) {
    function();
  } else if ((path & 1) != 0) {
    below_native(path >> 1, depth - 1, function);
    asm volatile("nop");
  } else {
    below_native(path >> 1, depth - 1, function);
  }
  asm volatile("");  // calls, not jumps
}

// Native frames that are missing here.
int missing_frames() {
  void* frames[4 * kNativeFrames];
  return kNativeFrames - backtrace(frames, 4 * kNativeFrames) - 3;
}

struct Captured {
  std::unique_ptr<StackCapture> stacks = make_stack_capture();
  NullSink sink;

  [[gnu::noinline]] void capture() {
    const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
    const CallSite site{reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                        reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
    benchmark::DoNotOptimize(stacks->python(sink));
    benchmark::DoNotOptimize(stacks->native(site, sink));
  }
};

void RepeatedStack(benchmark::State& state) {
  Captured captured;
  below_python([&] {
    below_native(0, missing_frames(), [&] {
      while (state.KeepRunning()) captured.capture();
    });
  });
}
BENCHMARK(RepeatedStack);

// Only the capture is timed. Every level may have changed since the stack before.
void NewStack(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  Captured captured;
  uint64_t number = 0;
  below_python([&] {
    const int depth = missing_frames();
    while (state.KeepRunning()) {
      below_native(++number * 0x9e3779b97f4a7c15, depth, [&] {
        const auto start = Clock::now();
        captured.capture();
        state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
      });
    }
  });
}
BENCHMARK(NewStack)->UseManualTime()->Iterations(50'000);

}  // namespace
}  // namespace vramscope

BENCHMARK_MAIN();
