// The file behind everything that a process shares: its pages are the memory, its head says what is
// where. It has no name: others reach it through /proc/PID/fd or through a descriptor that they
// were given, and it lives as long as one of them has it open or mapped.
//
//   0        4 KiB     1st page after the slots                    kPhysicalBegin
//   | head   | slots   | linear memory, by its place in the arena  | physical memory (cuMemCreate)
//   |
//
// Only what is written takes memory. Reference counts are locks on byte ranges, which the kernel
// drops with the process, however it dies.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tools/simgpu/core/own_descriptors.h"
#include "tools/simgpu/core/units.h"

namespace simgpu {

enum class ShareKind : uint32_t { kLinear = 1, kPhysical, kPool, kPooled, kEvent };

// One thing that is shared. Written by its owner only, but for the state of an event.
struct ShareSlot {
  std::atomic<uint64_t> generation;  // odd while in use
  ShareKind kind;
  int32_t board;    // the simulated board that it lies on; -1: host memory
  uint64_t offset;  // in the file
  uint64_t bytes;
  uint64_t pool_slot;                 // kPooled
  std::atomic<uint64_t> recorded_by;  // kEvent: the process that recorded it last; 0: none did
  std::atomic<uint64_t> complete_at;  // kEvent: on that process's clock
  uint64_t unused;
};
static_assert(sizeof(ShareSlot) == 64);

// How another process of the machine finds the file.
struct FileIdentity {
  int32_t pid;
  int32_t descriptor;
  uint64_t device;
  uint64_t inode;
};

class ShareFile {
 public:
  static constexpr uint32_t kSlotCount = 1u << 16;
  static constexpr uint64_t kHeadBytes = 4 * kKiB + kSlotCount * sizeof(ShareSlot);
  static constexpr uint64_t kLinearBegin = 8 * kMiB;
  static constexpr uint64_t kPhysicalBegin = kLinearBegin + 16 * kTiB;
  static constexpr uint64_t kFileBytes = kPhysicalBegin + 64 * kTiB;

  // Null where the system refuses (no memfd, no room for descriptors, a limit on file sizes).
  static std::shared_ptr<ShareFile> create(OwnDescriptors& descriptors);
  // Another process's, or the same again: null where it is gone, or is no such file.
  static std::shared_ptr<ShareFile> open(const FileIdentity& identity, OwnDescriptors& descriptors);
  static std::shared_ptr<ShareFile> open(int descriptor, OwnDescriptors& descriptors);

  ShareFile(const ShareFile&) = delete;
  ShareFile& operator=(const ShareFile&) = delete;
  ~ShareFile();

  // As the owner publishes it: the descriptor is the owner's.
  const FileIdentity& identity() const { return identity_; }
  bool same_file(const FileIdentity& other) const {
    return identity_.device == other.device && identity_.inode == other.inode;
  }

  // index < kSlotCount
  ShareSlot& slot(uint32_t index);
  // Counts what processes other than the owner wrote into its memory.
  std::atomic<uint64_t>& foreign_writes() const;

  // -1 where the program closed it.
  int descriptor() const;

  // Makes whole pages of it read as zero and take no memory.
  void discard(uint64_t offset, uint64_t size_bytes) const;

  // A new descriptor that stands for one slot, for the program to pass on; it holds the range until
  // its last duplicate is closed. -1 on failure.
  int open_for(uint32_t slot_index, uint64_t offset, uint64_t size_bytes) const;
  // The slot that such a descriptor stands for; kSlotCount or more where it is something else.
  static uint32_t slot_of(int descriptor);

  // This process refers to the range, until it lets go or ends.
  bool hold(uint64_t offset, uint64_t size_bytes) const;
  void let_go(uint64_t offset, uint64_t size_bytes) const;
  // Whether anybody else (another process, a descriptor of open_for) holds part of the range.
  bool is_held(uint64_t offset, uint64_t size_bytes) const;

 private:
  struct Head;

  ShareFile(int descriptor, const FileIdentity& identity, Head* head, OwnDescriptors& descriptors);
  static std::shared_ptr<ShareFile> adopt(int descriptor, bool fresh, OwnDescriptors& descriptors);

  int descriptor_;
  FileIdentity identity_;
  Head* head_;
  OwnDescriptors& descriptors_;
};

}  // namespace simgpu
