// The heap at random moments of a trace of ten million events: blocks of a training job that come
// and go, 5,000 alive.
#include <benchmark/benchmark.h>

#include <random>

#include "tools/model/heap_history.h"

namespace vramscope {
namespace {

constexpr size_t kEvents = 10'000'000;
constexpr uint64_t kLiveBlocks = 5000;
constexpr uint64_t kBlockBytes = 1 << 20;

DeviceTrace make_trace() {
  DeviceTrace trace;
  TraceEvent event;
  event.size = kLiveBlocks * kBlockBytes;
  event.address = kBlockBytes;
  event.action = Action::kSegmentAlloc;
  trace.events.push_back(event);
  event.size = kBlockBytes;
  std::mt19937_64 bits(1);
  std::vector<bool> is_live(kLiveBlocks);
  while (trace.events.size() < kEvents) {
    const uint64_t block = bits() % kLiveBlocks;
    event.address = (1 + block) * kBlockBytes;
    event.action = is_live[block] ? Action::kFreeRequested : Action::kAlloc;
    trace.events.push_back(event);
    if (is_live[block]) {
      event.action = Action::kFreeCompleted;
      trace.events.push_back(event);
    }
    is_live[block] = !is_live[block];
  }
  return trace;
}

const DeviceTrace& trace() {
  static const DeviceTrace made = make_trace();
  return made;
}

void MakeHeapHistory(benchmark::State& state) {
  trace();
  while (state.KeepRunning()) benchmark::DoNotOptimize(HeapHistory(trace()).checkpoints());
}
BENCHMARK(MakeHeapHistory)->Unit(benchmark::kMillisecond);

void HeapAtRandomMoment(benchmark::State& state) {
  static const HeapHistory history(trace());
  std::mt19937_64 bits(2);
  while (state.KeepRunning())
    benchmark::DoNotOptimize(history.after(bits() % kEvents).counters().allocated_bytes);
  state.counters["checkpoints"] = static_cast<double>(history.checkpoints());
}
BENCHMARK(HeapAtRandomMoment)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope

BENCHMARK_MAIN();
