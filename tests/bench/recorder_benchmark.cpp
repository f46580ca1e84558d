// What one event costs: the ring by itself, a free, and threads that record at once.
//
// Nobody drains here: each thread takes its own records off its ring, as the drainer would, so that
// no core is shared with it.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "recorder/clock.h"
#include "recorder/ring_file_writer.h"
#include "recorder/ring_writer.h"
#include "recorder/thread_log.h"

namespace vramscope {
namespace {

RingFileWriter& ring_file() {
  static RingFileWriter* const file = [] {
    std::string folder = "/tmp/vramscope-bench-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    RingFileSetup setup;
    setup.path = folder + "/bench.ring";
    RingFileWriter* made = RingFileWriter::create(setup);
    if (made == nullptr) std::abort();
    unlink(setup.path.c_str());
    rmdir(folder.c_str());
    return made;
  }();
  return *file;
}

// One thread's ring, emptied often enough never to be full.
class DrainedRing {
 public:
  DrainedRing() : ring_(*ring_file().claim_ring(static_cast<uint32_t>(gettid()))) {}
  ~DrainedRing() { ring_.control->state = RingState::kFree; }
  DrainedRing(const DrainedRing&) = delete;
  DrainedRing& operator=(const DrainedRing&) = delete;

  const Ring& ring() const { return ring_; }

  void count_event() {
    if (++events_ % 1024 != 0) return;
    ring_.control->read_position.store(ring_.control->write_position.load());
  }

 private:
  const Ring ring_;
  uint64_t events_ = 0;
};

Event block_event(RecordKind kind) {
  static const ClockKind clock = choose_clock();
  Event event{};
  event.kind = kind;
  event.ticks = read_clock(clock);
  event.address = 0x7f0000000000;
  event.size = 1 << 20;
  return event;
}

[[gnu::noinline]] void record_here(ThreadLog& log, RecordKind kind) {
  const auto* frame = static_cast<const uintptr_t*>(__builtin_frame_address(0));
  const CallSite site{reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                      reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
  Event event = block_event(kind);
  log.record(event, site);
  asm volatile("");  // a call, not a jump
}

void RingWrite(benchmark::State& state) {
  DrainedRing drained;
  RingWriter writer(drained.ring());
  const Event event = block_event(RecordKind::kBlockAlloc);
  while (state.KeepRunning()) {
    writer.begin_event();
    writer.append(event);
    drained.count_event();
  }
}
BENCHMARK(RingWrite);

void Free(benchmark::State& state) {
  DrainedRing drained;
  ThreadLog log({drained.ring(), {}, true, true});
  while (state.KeepRunning()) {
    record_here(log, RecordKind::kBlockFree);
    drained.count_event();
  }
}
BENCHMARK(Free);

// The same work for each thread: where nothing is shared, its CPU time an event does not depend on
// how many there are.
void Threads(benchmark::State& state) {
  DrainedRing drained;
  ThreadLog log({drained.ring(), {}, true, true});
  while (state.KeepRunning()) {
    record_here(log, RecordKind::kBlockAlloc);
    drained.count_event();
    record_here(log, RecordKind::kBlockFree);
    drained.count_event();
  }
}
BENCHMARK(Threads)->Threads(1)->Threads(2)->Threads(4)->Threads(8);

}  // namespace
}  // namespace vramscope

BENCHMARK_MAIN();
