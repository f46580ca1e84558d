// The seam between the core and libvramscope_cupti.so, which the core loads if VRAMSCOPE_CUPTI=1.
//
//   bool vramscope_cupti_start(const CuptiServices* services, char* problem, size_t problem_bytes)
//
// starts the audit, once in a process: from then on CUPTI's account of memory is handed to
// services->operation, on threads of CUPTI's. False: nothing was started, and `problem` says why.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope {

constexpr const char* kCuptiLibraryName = "libvramscope_cupti.so";
constexpr const char* kCuptiStartName = "vramscope_cupti_start";

// One allocation or release, as CUPTI reports it.
struct CuptiOperation {
  bool is_release;
  int8_t device;
  uint64_t memory_kind;  // CUpti_ActivityMemoryKind
  uint64_t address;
  uint64_t bytes;
  uint64_t stream;
};

// Immortal; any thread may call them.
struct CuptiServices {
  void (*operation)(const CuptiOperation& operation);
  void (*lost)(uint64_t operations);  // that found no room in CUPTI's buffers
};

using CuptiStart = bool (*)(const CuptiServices* services, char* problem, size_t problem_bytes);
using CuptiFlush = void (*)();
constexpr const char* kCuptiFlushName = "vramscope_cupti_flush";  // delivers what is buffered

}  // namespace vramscope
