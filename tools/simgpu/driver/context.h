// Primary contexts, which green contexts hold too.
#pragma once

#include "tools/simgpu/driver/driver_state.h"

namespace simgpu {

// False: the device has no room for a context.
bool retain_primary(Driver& state, int ordinal);

// The context must have references. The last one takes the device's memory with it.
void release_primary(Driver& state, int ordinal);

// In stream.cpp: of this context, with the flags and the priority of cuStreamCreateWithPriority.
Stream* create_stream(Driver& state, Context* context, unsigned flags, int priority);

}  // namespace simgpu
