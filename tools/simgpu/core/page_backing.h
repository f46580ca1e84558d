// Which pages of the process's device memory are pages of a file that other processes map.
//
// Device memory is private memory of the process until it is shared: then its pages move into the
// process's ShareFile, at the same addresses, and stay there.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include "tools/simgpu/core/range_set.h"

namespace simgpu {

// Who moves bytes holds a lease, so that pages do not change under it. Everything else is called
// with the driver's lock held (which comes first).
class PageBacking {
 public:
  using Lease = std::shared_lock<std::shared_mutex>;
  Lease lease() const { return Lease(mutex_); }

  // Addresses and sizes below are whole pages.

  // Moves private pages into the file, byte for byte; those that are in a file stay where they are.
  // False, and nothing lost, where the system refuses.
  bool move_into_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
                      bool accessible);
  // Replaces the pages by those of the file.
  bool map_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
                bool accessible);
  // Replaces the pages by private ones, which read as zero.
  void make_private(uint64_t address, uint64_t size_bytes, bool accessible);

  // Makes any accessible range read as zero, in the file as well. With a lease or the driver's
  // lock.
  void discard(uint64_t address, uint64_t size_bytes) const;

 private:
  mutable std::shared_mutex mutex_;
  RangeSet in_file_;
};

}  // namespace simgpu
