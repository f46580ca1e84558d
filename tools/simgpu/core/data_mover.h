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
//   the last kernel: what a kernel "wrote" is whatever the recycled block held before, and stale
//   bytes would steer programs at random (loss.item(), a count of non-zeros, a flag);
// - what other processes share may hold anything: they write to it unseen. It is read as it is, but
//   small reads of the own shared memory only where another process wrote since the last kernel.
#pragma once

#include <cstdint>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/range_set.h"

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

  void kernel_ran();

  // Carries a plan out; no lock needed. `source` matters for kCopy only.
  void carry_out(Movement movement, uint64_t destination, uint64_t source, uint64_t bytes) const;

 private:
  Allocation* device_allocation(uint64_t address);
  void note_set(const Allocation& allocation, uint64_t address, uint64_t bytes);
  bool is_stale(const Allocation& allocation, uint64_t address, uint64_t bytes) const;
  uint64_t foreign_writes() const;

  Memory& memory_;
  RangeSet written_;                            // by copies and sets since the last kernel
  uint64_t foreign_writes_at_last_kernel_ = 0;  // into the own shared memory
};

}  // namespace simgpu
