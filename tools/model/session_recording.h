// Makes the neutral recording of one process from its session.
//
// With a caching allocator (the session has block events) the driver's allocations that hold its
// blocks, or that its library made, are segments. Whatever else the driver gave out is a segment
// with one block, marked `outside`. Without block events the driver's allocations are the blocks,
// each in a segment of its own: also stream-ordered memory, whose pools keep the driver's secret.
//
//   session                                        trace
//   kDeviceAlloc, kManagedAlloc, kAsyncAlloc       segment_alloc (+ alloc)
//   kDeviceFree, kAsyncFree                        (free_requested, free_completed +) segment_free
//   kMap: handle by handle                         segment_map: one per range (+ alloc)
//   kUnmap                                         segment_unmap: one per range
//   kBlockAlloc, kBlockFree                        alloc; free_requested, free_completed
//   kBlockOom, failed calls outside the framework  oom
//
// Not in the trace: host memory, reserved addresses, physical memory that is mapped nowhere (and
// its second mapping), memory imported from other processes, memory nodes of graphs, multicast
// objects, contexts. ProcessRecording::kinds has them.
#pragma once

#include <memory>

#include "recorder/session.h"
#include "recorder/session_stream.h"
#include "tools/model/recording.h"

namespace vramscope {

struct SessionOptions {
  bool native_frames = false;  // append native frames to Python stacks
};

std::unique_ptr<ProcessRecording> recording_of_session(const Session& session,
                                                       const SessionOptions& options = {});

// The same of a session that need not fit into memory. `stream` is at its first event, and at its
// end afterwards.
std::unique_ptr<ProcessRecording> recording_of_session(SessionStream& stream,
                                                       const SessionOptions& options = {});

}  // namespace vramscope
