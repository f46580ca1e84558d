// Which bytes copies and sets really move.
//
// The contents of most device memory mean nothing here (kernels do nothing), yet every byte written
// costs a page of host memory: gigabytes of weights would kill the process. So:
// - what was never written reads as zero and costs nothing, also when it is copied on the device;
// - copies of kSmallCopyBytes and more keep their payload while no more than kResidentBudgetBytes
//   become resident by it, and drop it else (small programs see exact data; big models keep their
//   shapes but not their weights);
// - copies on the device of kLargeDeviceCopyBytes and more move nothing;
// - reads of at most kScalarBytes from the device give zero unless a copy or set wrote them since
//   the last kernel.
#pragma once

#include <cstdint>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/written_ranges.h"

namespace simgpu {

inline constexpr uint64_t kScalarBytes = 8;
inline constexpr uint64_t kSmallCopyBytes = 1ull << 20;
inline constexpr uint64_t kLargeDeviceCopyBytes = 16ull << 20;
inline constexpr uint64_t kResidentBudgetBytes = 1ull << 30;

enum class Movement {
  kNothing,
  kCopy,
  kClear,    // set to zero
  kDiscard,  // set device memory to zero by giving its pages back
};

// plan_* are called with the driver's lock held; what they decide is carried out without it.
class DataMover {
 public:
  explicit DataMover(Memory& memory) : memory_(memory) {}

  // What a copy does with the destination. Counts it as written.
  Movement plan_copy(uint64_t destination, uint64_t source, uint64_t bytes);
  // The same for a set: kCopy says that the caller has to write the value.
  Movement plan_set(uint64_t destination, uint64_t bytes, bool zero);
  // Whether the range may be accessed: false inside the device reservation where nothing is
  // allocated.
  bool is_accessible(uint64_t address, uint64_t bytes);

  void kernel_ran() { written_.clear(); }

 private:
  Allocation* device_allocation(uint64_t address);

  Memory& memory_;
  WrittenRanges written_;
};

// Carries a plan out; no lock needed. `source` matters for kCopy only.
void carry_out(Movement movement, uint64_t destination, uint64_t source, uint64_t bytes);

}  // namespace simgpu
