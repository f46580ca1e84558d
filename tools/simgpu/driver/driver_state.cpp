#include "tools/simgpu/driver/driver_state.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

extern "C" {
int simgpu_driver_state = 0;
simgpu::VirtualClock simgpu_clock;
thread_local bool simgpu_per_thread_stream = false;
}

namespace simgpu {
namespace {

constexpr int kBeforeInit = 0;
constexpr int kReady = 1;
constexpr int kForked = 2;

Driver* the_driver = nullptr;

// A context does not survive fork(): as with real drivers, the child of a process that used the GPU
// gets error 3 from every call. A child of a process that did not may initialise its own.
void after_fork_in_child() {
  if (simgpu_driver_state != kReady) return;
  simgpu_driver_state = kForked;
  the_driver->memory.shares().descriptors().close_all();
  if (the_driver->ledger) the_driver->ledger->close_in_child();
}

std::vector<uint64_t> capacities(const Configuration& configuration) {
  return std::vector<uint64_t>(configuration.visible_boards.size(),
                               configuration.gpus.profile.capacity_bytes);
}

void create_driver() {
  the_driver = new Driver(read_configuration());
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atomic_thread_fence(std::memory_order_release);
  simgpu_driver_state = kReady;
}

}  // namespace

Driver::Driver(Configuration read_configuration)
    : configuration(std::move(read_configuration)),
      log(configuration.log_path),
      ledger(JobLedger::join(configuration.job)),
      memory(capacities(configuration), configuration.visible_boards, ledger.get()) {
  memory.set_reclaimer([this] { virtual_memory.reclaim(); });
  for (const int board : configuration.visible_boards) {
    const int ordinal = static_cast<int>(devices.size());
    Device& device = devices.emplace_back();
    device.profile = configuration.gpus.profile;
    device.board = board;
    device.primary = contexts.create(Context{next_id(), ordinal, true, 0, 0});
    device.legacy_stream =
        streams.create(Stream{next_id(), ordinal, device.primary, StreamKind::kLegacy});
  }
}

bool ThreadState::push(Context* context) {
  if (depth == kMaxContextDepth) return false;
  contexts[depth++] = context;
  return true;
}

Context* ThreadState::pop() { return depth > 0 ? contexts[--depth] : nullptr; }

void ThreadState::set_current(Context* context) {
  pop();
  if (context) push(context);
}

void ThreadState::forget(const Context* context) {
  depth = static_cast<int>(std::remove(contexts, contexts + depth, context) - contexts);
}

Driver& driver() { return *the_driver; }

ThreadState& this_thread() {
  static thread_local ThreadState state;
  return state;
}

Status initialize_driver() {
  if (simgpu_driver_state == kForked) return Status::kNotInitialized;
  static std::once_flag once;
  if (simgpu_driver_state == kBeforeInit) std::call_once(once, create_driver);
  return Status::kSuccess;
}

}  // namespace simgpu
