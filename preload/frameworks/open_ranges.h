// Ranges that the program opened before the process had a session: they are recorded when it gets
// one, with the time at which they were opened.
//
// A fixed number of slots for the whole process, without a lock: a thread fills and empties slots
// of its own pushed ranges; a started range may be ended by any thread. What finds no slot is not
// seen. The child of a fork keeps what its thread had opened.
#pragma once

#include "recorder/recorder.h"

namespace vramscope {

// A mark of a process without a session.
void remember_mark(const Mark& mark);

// Records the ranges that the calling thread pushed, and all that were started.
void record_remembered_ranges();

}  // namespace vramscope
