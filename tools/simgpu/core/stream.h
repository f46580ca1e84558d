// Streams and events on the virtual clock.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/simgpu/core/share_registry.h"
#include "tools/simgpu/core/virtual_clock.h"

namespace simgpu {

class Capture;
struct GraphNode;

enum class StreamKind {
  kLegacy,    // the default stream: waits for all blocking streams of its device, and they for it
  kBlocking,  // created without flags; also a thread's default stream
  kNonBlocking,  // created with CU_STREAM_NON_BLOCKING
};

struct Stream {
  uint64_t id;
  int device;
  const void* context;
  StreamKind kind;
  int priority = 0;
  Ticks busy_until = 0;  // when the work enqueued so far is done
  // While it is being captured: the nodes that the next piece of work depends on.
  Capture* capture = nullptr;
  std::vector<GraphNode*> capture_tail = {};
};

struct Event {
  int device;
  bool timed;                 // created without CU_EVENT_DISABLE_TIMING
  bool interprocess = false;  // created with CU_EVENT_INTERPROCESS, or another process's
  bool recorded = false;
  Ticks complete_at = 0;
  // Where processes share its state (shared_event.h): that counts instead of the two above.
  ShareEntry shared = {};
  // Where it was last recorded in a stream under capture.
  uint64_t capture_id = 0;
  std::vector<GraphNode*> capture_tail = {};
};

// What the streams of one device owe each other by the rules of the legacy default stream, and what
// the whole device still has to do. Not thread-safe.
class DeviceTimeline {
 public:
  // Work that takes `duration` once the stream gets to it, and is not seen as complete before `lag`
  // ticks from now.
  void enqueue(Stream& stream, Ticks now, Ticks duration, Ticks lag);

  // Nothing that the stream does later starts before `time` (wait for an event).
  void wait_until(Stream& stream, Ticks time);

  // When everything is done that a query or a synchronisation of the stream asks for.
  Ticks done_at(const Stream& stream) const;

  // When everything enqueued on the device is done.
  Ticks done_at() const { return all_busy_until_; }

 private:
  void note_busy(const Stream& stream);

  Ticks legacy_busy_until_ = 0;
  Ticks blocking_busy_until_ = 0;
  Ticks all_busy_until_ = 0;
};

// Milliseconds from `start` to `end`, both recorded.
float elapsed_ms(const Event& start, const Event& end);

}  // namespace simgpu
