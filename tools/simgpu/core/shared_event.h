// Events that processes share.
//
// Their state lies in a slot of the exporter's ShareFile. Each process has a clock of its own, so
// that an event which another process recorded counts as complete at once: what its work does to
// data was done when it was enqueued.
#pragma once

#include "tools/simgpu/core/share_registry.h"
#include "tools/simgpu/core/stream.h"

namespace simgpu {

// Only events that were created for it: kInvalidHandle else.
Status export_event(Event& event, ShareRegistry& shares, ShareHandle* handle);
// Makes an event that shares the state of another process's.
Status open_event(const ShareHandle& handle, ShareRegistry& shares, Event* event);
// To be called before an event is destroyed.
void close_event(Event& event, ShareRegistry& shares);

// For every event, shared or not.
void mark_recorded(Event& event, Ticks complete_at, const ShareRegistry& shares);
// When it is complete on this process's clock; 0 where nothing is to be waited for.
Ticks completion(const Event& event, const ShareRegistry& shares);

}  // namespace simgpu
