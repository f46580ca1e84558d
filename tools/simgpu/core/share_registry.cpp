#include "tools/simgpu/core/share_registry.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace simgpu {
namespace {

constexpr uint64_t kHandleMagic = 0x656c646e61686d73;

bool is_live(uint64_t generation) { return generation % 2 == 1; }

// Whether the slot says something possible: it lies in another process's memory.
bool is_plausible(const ShareSlot& slot) {
  const uint64_t end =
      slot.kind == ShareKind::kPhysical ? ShareFile::kFileBytes : ShareFile::kPhysicalBegin;
  return slot.offset <= end && slot.bytes <= end - slot.offset;
}

uint64_t make_token() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t nanoseconds = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  return (nanoseconds << 22 | static_cast<uint64_t>(getpid())) | 1ull << 63;
}

}  // namespace

ShareRegistry::ShareRegistry(std::vector<int> boards)
    : boards_(std::move(boards)), process_token_(make_token()) {}

int ShareRegistry::device_of(int board) const {
  const auto found = std::find(boards_.begin(), boards_.end(), board);
  return found == boards_.end() ? -1 : static_cast<int>(found - boards_.begin());
}

const std::shared_ptr<ShareFile>& ShareRegistry::own() {
  if (own_ || refused_) return own_;
  own_ = ShareFile::create(descriptors_);
  refused_ = !own_;
  if (refused_) {
    std::fprintf(stderr,
                 "simgpu: memory cannot be shared between processes here: memfd_create is refused, "
                 "or the size of files (ulimit -f) or the number of open files is limited\n");
  }
  return own_;
}

Status ShareRegistry::publish(ShareKind kind, int board, uint64_t offset, uint64_t bytes,
                              uint32_t* index) {
  if (!free_slots_.empty()) {
    *index = free_slots_.back();
    free_slots_.pop_back();
  } else if (used_slots_ < ShareFile::kSlotCount) {
    *index = used_slots_++;
  } else {
    return Status::kOutOfMemory;
  }
  ShareSlot& slot = own_->slot(*index);
  slot.kind = kind;
  slot.board = board;
  slot.offset = offset;
  slot.bytes = bytes;
  slot.pool_slot = 0;
  slot.recorded_by.store(0);
  slot.complete_at.store(0);
  slot.generation.fetch_add(1);
  return Status::kSuccess;
}

void ShareRegistry::withdraw(uint32_t index) {
  own_->slot(index).generation.fetch_add(1);
  free_slots_.push_back(index);
}

ShareHandle ShareRegistry::handle_of(uint32_t index) {
  const ShareSlot& slot = own_->slot(index);
  return {kHandleMagic, slot.kind, index, slot.generation.load(), own_->identity(), {}};
}

Status ShareRegistry::find(const ShareHandle& handle, ShareKind kind, ShareEntry* entry) {
  if (handle.magic != kHandleMagic || handle.kind != kind || handle.slot >= ShareFile::kSlotCount) {
    return Status::kInvalidHandle;
  }
  entry->file = known(handle.file);
  if (!entry->file) {
    entry->file = ShareFile::open(handle.file, descriptors_);
    if (!entry->file) return Status::kMapFailed;
    remember(entry->file);
  }
  entry->index = handle.slot;
  const ShareSlot& slot = entry->slot();
  const bool same = slot.generation.load() == handle.generation && is_live(handle.generation);
  return same && slot.kind == kind && is_plausible(slot) ? Status::kSuccess
                                                         : Status::kInvalidHandle;
}

Status ShareRegistry::find(int descriptor, ShareKind kind, ShareEntry* entry) {
  struct stat status {};
  entry->index = ShareFile::slot_of(descriptor);
  if (entry->index >= ShareFile::kSlotCount || fstat(descriptor, &status) != 0) {
    return Status::kInvalidValue;
  }
  entry->file = known({0, descriptor, status.st_dev, status.st_ino});
  if (!entry->file) {
    entry->file = ShareFile::open(descriptor, descriptors_);
    if (!entry->file) return Status::kInvalidValue;
    remember(entry->file);
  }
  const ShareSlot& slot = entry->slot();
  const bool valid = is_live(slot.generation.load()) && slot.kind == kind && is_plausible(slot);
  return valid ? Status::kSuccess : Status::kInvalidValue;
}

std::shared_ptr<ShareFile> ShareRegistry::known(const FileIdentity& identity) const {
  if (own_ && own_->same_file(identity)) return own_;
  const auto it = others_.find({identity.device, identity.inode});
  return it == others_.end() ? nullptr : it->second.lock();
}

void ShareRegistry::remember(const std::shared_ptr<ShareFile>& file) {
  std::erase_if(others_, [](const auto& other) { return other.second.expired(); });
  others_[{file->identity().device, file->identity().inode}] = file;
}

}  // namespace simgpu
