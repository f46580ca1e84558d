// What would have helped against an out-of-memory error: only what a replay of the same recording
// proves, or its own figures.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/out_of_memory.h"

namespace vramscope {

// Longer traces are not replayed for a report: `vramscope replay RUN --what-if` is there for them.
constexpr size_t kMostEventsToAdviseOn = 1'000'000;

// Fills in OutOfMemory::advice of a device's failed requests. It stays empty where nothing is
// proven: where the replay with the recorded settings does not do what the job did, for example.
void add_advice(const ProcessRecording& process, const DeviceTrace& trace,
                std::vector<OutOfMemory>& ooms);

}  // namespace vramscope
