#pragma once

/// Marks what a hand-written source defines for the program; the version script has the last word.
#define SIMGPU_EXPORT extern "C" __attribute__((visibility("default")))
