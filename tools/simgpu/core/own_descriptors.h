// The file descriptors that the simulated driver itself holds.
//
// Locks on their files tell other processes that this one lives, so that a forked child, which
// cannot use the driver, must not keep them open beyond its parent's life.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace simgpu {

// Lock-free, since close_all() runs in a child whose other threads are gone in the middle of
// anything.
class OwnDescriptors {
 public:
  static constexpr int kCapacity = 128;

  // False where the table is full.
  bool add(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return false;
    for (Entry& entry : entries_) {
      int expected = kFree;
      if (!entry.descriptor.compare_exchange_strong(expected, kReserved)) continue;
      entry.inode.store(status.st_ino);
      entry.descriptor.store(descriptor);
      return true;
    }
    return false;
  }

  void close(int descriptor) {
    for (Entry& entry : entries_) {
      if (entry.descriptor.load() == descriptor) close_entry(entry);
    }
  }

  void close_all() {
    for (Entry& entry : entries_) {
      if (entry.descriptor.load() >= 0) close_entry(entry);
    }
  }

 private:
  static constexpr int kFree = -1;
  static constexpr int kReserved = -2;

  struct Entry {
    std::atomic<int> descriptor{kFree};
    std::atomic<ino_t> inode{0};
  };

  // A program may have closed the descriptor; the number may be its own file's now.
  static void close_entry(Entry& entry) {
    const int descriptor = entry.descriptor.load();
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && status.st_ino == entry.inode.load()) {
      ::close(descriptor);
    }
    entry.descriptor.store(kFree);
  }

  std::array<Entry, kCapacity> entries_;
};

}  // namespace simgpu
