// Writes a recording as a snapshot that PyTorch's memory_viz page and _memory_viz.py accept. Twin:
// snapshot_reader.
#pragma once

#include <iosfwd>

#include "tools/model/recording.h"

namespace vramscope {

// Traces are written as they are: a session's is made consistent when the recording is built, a
// pickle's is PyTorch's. The state at the end is the recording's where it has one, else what its
// heap holds. Errors show in the state of `out`.
void write_snapshot(const ProcessRecording& process, std::ostream& out);

}  // namespace vramscope
