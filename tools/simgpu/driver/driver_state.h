// Everything that the simulated driver knows in one process, and the one place where it stands.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/simgpu/core/capture.h"
#include "tools/simgpu/core/configuration.h"
#include "tools/simgpu/core/data_mover.h"
#include "tools/simgpu/core/graph.h"
#include "tools/simgpu/core/handle_registry.h"
#include "tools/simgpu/core/job_ledger.h"
#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/shared_memory.h"
#include "tools/simgpu/core/stream.h"
#include "tools/simgpu/core/virtual_clock.h"
#include "tools/simgpu/core/virtual_memory.h"
#include "tools/simgpu/driver/call_log.h"
#include "tools/simgpu/driver/cuda_api.h"

// Read and written by the thunks (thunk.h).
extern "C" {
// 0: before cuInit, 1: initialised, 2: child of a process that had initialised it.
extern int simgpu_driver_state;
extern simgpu::VirtualClock simgpu_clock;
// Whether stream 0 of the call under way means the thread's own default stream.
extern thread_local bool simgpu_per_thread_stream __attribute__((tls_model("initial-exec")));
}
static_assert(sizeof(simgpu::VirtualClock) == 8, "the thunks count in one 64-bit word");

namespace simgpu {

struct Context {
  uint64_t id;
  int device;
  bool primary;
  unsigned flags;
  unsigned references;  // of a primary context: 0 = not active
  // Cleared by cuCtxDestroy; the object stays, since it may still be current in other threads.
  bool alive = true;
  unsigned green_sms = 0;  // of a green context: its multiprocessors
};

// What a green context is made from.
struct ResourceDescription {
  unsigned sms;
};

// A module or library: the program's code means nothing here, so that every name that is asked for
// exists.
struct Kernel;
struct Module {
  int device;
  std::map<std::string, Kernel*> kernels;
  std::map<std::string, uint64_t> globals;
};

struct Kernel {
  std::string name;
  Module* module;
  int max_dynamic_shared_bytes;
};

// An array or a mipmapped array: takes capacity, has no address.
struct Array {
  int device;
  uint64_t bytes;
  uint64_t width, height, depth;
  int format;
  unsigned channels;
  unsigned flags;
  std::vector<Array*> levels;  // of a mipmapped array; they take no capacity of their own
};

struct Device {
  GpuProfile profile;
  int board;  // which simulated board the ordinal is (CUDA_VISIBLE_DEVICES)
  Context* primary = nullptr;
  Stream* legacy_stream = nullptr;
  DeviceTimeline timeline;
  std::set<int> peers;  // devices whose memory its kernels may access
};

// Guarded by `mutex`, which every call holds while it touches the model (see call.h), and releases
// before it runs the program's own functions or moves data. Made by cuInit, never destroyed:
// libraries call the driver at exit.
struct Driver {
  explicit Driver(Configuration read_configuration);

  uint64_t next_id() { return ++last_id; }

  // Null for a handle that is no context, or a destroyed one.
  Context* find_context(CUcontext handle) const {
    Context* context = contexts.find(handle);
    return context && context->alive ? context : nullptr;
  }

  const Configuration configuration;
  CallLog log;
  std::mutex mutex;
  std::vector<Device> devices;
  const std::unique_ptr<JobLedger> ledger;  // null: the process has the boards for itself
  Memory memory;
  VirtualMemory virtual_memory{memory};
  SharedMemory shared_memory{memory};
  DataMover data_mover{memory};
  CaptureRegistry captures;
  HandleRegistry<Context> contexts;
  HandleRegistry<ResourceDescription> resource_descriptions;  // nothing destroys them
  HandleRegistry<Stream> streams;
  HandleRegistry<Event> events;
  HandleRegistry<Graph> graphs;
  // Shared: a launch runs without the lock, while another thread may destroy the executable.
  HandleRegistry<std::shared_ptr<const GraphExecutable>> graph_executables;
  HandleRegistry<UserObject> user_objects;
  HandleRegistry<Module> modules;
  HandleRegistry<Kernel> kernels;
  HandleRegistry<Array> arrays;
  uint64_t last_id = 0;
};

// What belongs to one host thread. Trivially destructible: libraries call the driver from exit
// handlers, after the main thread's thread-local objects were destroyed.
struct ThreadState {
  static constexpr int kMaxContextDepth = 64;

  Context* current() const { return depth > 0 ? contexts[depth - 1] : nullptr; }
  // False where the stack is full.
  bool push(Context* context);
  Context* pop();                      // null where it is empty
  void set_current(Context* context);  // replaces the top; null pops it
  void forget(const Context* context);

  Context* contexts[kMaxContextDepth] = {};
  int depth = 0;
  CaptureMode capture_mode = CaptureMode::kGlobal;
  // By device; they live on after the thread, as the work in them may.
  Stream* default_streams[kMaxDevices] = {};
};
static_assert(std::is_trivially_destructible_v<ThreadState>);

// Only after cuInit, which the thunks make sure of.
Driver& driver();

ThreadState& this_thread();

// cuInit. Repeated calls are cheap.
Status initialize_driver();

}  // namespace simgpu
