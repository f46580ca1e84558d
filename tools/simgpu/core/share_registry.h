// What this process shares, and the files of the processes that share with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tools/simgpu/core/own_descriptors.h"
#include "tools/simgpu/core/share_file.h"
#include "tools/simgpu/core/status.h"

namespace simgpu {

// What programs pass from process to process for linear memory, pointers of pools, and events.
struct ShareHandle {
  uint64_t magic;
  ShareKind kind;
  uint32_t slot;
  uint64_t generation;
  FileIdentity file;
  uint64_t unused[2];
};
static_assert(sizeof(ShareHandle) == 64);  // CUipcMemHandle, CUipcEventHandle, ...ExportData

// A slot of somebody's file.
struct ShareEntry {
  std::shared_ptr<ShareFile> file;
  uint32_t index = 0;

  ShareSlot& slot() const { return file->slot(index); }
};

// Not thread-safe, but for close_in_child().
class ShareRegistry {
 public:
  // The simulated board of each device: processes may number the same boards differently.
  explicit ShareRegistry(std::vector<int> boards);

  int board_of(int device) const { return boards_[device]; }
  int device_of(int board) const;  // -1: this process does not see it

  // Null where nothing was shared yet.
  ShareFile* own_if_any() const { return own_.get(); }
  // Made at the first call; null where the system refuses, which costs one line on stderr.
  const std::shared_ptr<ShareFile>& own();

  // A new slot of the own file (which exists); null slots left: kOutOfMemory.
  Status publish(ShareKind kind, int board, uint64_t offset, uint64_t bytes, uint32_t* index);
  void withdraw(uint32_t index);
  ShareHandle handle_of(uint32_t index);

  // kInvalidHandle: it is none, or what it stood for is gone; kMapFailed: its process is gone.
  Status find(const ShareHandle& handle, ShareKind kind, ShareEntry* entry);
  // The same for a descriptor of ShareFile::open_for; kInvalidValue where it is something else.
  Status find(int descriptor, ShareKind kind, ShareEntry* entry);
  bool is_own(const ShareEntry& entry) const { return entry.file == own_; }

  // A name for this process, unique on the machine; never 0.
  uint64_t process_token() const { return process_token_; }

  OwnDescriptors& descriptors() { return descriptors_; }

 private:
  using FileKey = std::pair<uint64_t, uint64_t>;  // device, inode

  std::shared_ptr<ShareFile> known(const FileIdentity& identity) const;
  void remember(const std::shared_ptr<ShareFile>& file);

  const std::vector<int> boards_;
  const uint64_t process_token_;
  OwnDescriptors descriptors_;
  std::shared_ptr<ShareFile> own_;
  bool refused_ = false;
  uint32_t used_slots_ = 0;
  std::vector<uint32_t> free_slots_;
  std::map<FileKey, std::weak_ptr<ShareFile>> others_;
};

}  // namespace simgpu
