#pragma once

/// Answers for a runtime function that the simulated GPU does not have: names it once on stderr,
/// and returns (and keeps as the thread's last error) cudaErrorNotSupported. Any thread.
extern "C" int simgpu_unsupported_runtime_call(const char* function);
