#include "tools/simgpu/core/share_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace simgpu {
namespace {

constexpr uint64_t kMagic = 0x6572616873677330;  // and the version of the layout

static_assert(ShareFile::kHeadBytes <= ShareFile::kLinearBegin);

struct flock range_lock(int16_t type, uint64_t offset, uint64_t size_bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = static_cast<off_t>(size_bytes);
  return lock;
}

bool set_lock(int descriptor, int16_t type, uint64_t offset, uint64_t size_bytes) {
  struct flock lock = range_lock(type, offset, size_bytes);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

constexpr uint64_t slot_offset(uint32_t index) {
  return 4 * kKiB + uint64_t{index} * sizeof(ShareSlot);
}

int open_path(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CLOEXEC); }

// A description of its own: locks and the position belong to it alone.
int reopen(int descriptor) { return open_path("/proc/self/fd/" + std::to_string(descriptor)); }

bool is_share_file(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_size == static_cast<off_t>(ShareFile::kFileBytes);
}

bool file_size_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < ShareFile::kFileBytes;
}

}  // namespace

struct ShareFile::Head {
  uint64_t magic;
  FileIdentity identity;
  std::atomic<uint64_t> foreign_writes;
  char padding[4 * kKiB - 40];
  ShareSlot slots[kSlotCount];
};

ShareFile::ShareFile(int descriptor, const FileIdentity& identity, Head* head,
                     OwnDescriptors& descriptors)
    : descriptor_(descriptor), identity_(identity), head_(head), descriptors_(descriptors) {
  static_assert(sizeof(Head) == kHeadBytes);
}

ShareFile::~ShareFile() {
  munmap(head_, kHeadBytes);
  descriptors_.close(descriptor_);
}

std::shared_ptr<ShareFile> ShareFile::adopt(int descriptor, bool fresh,
                                            OwnDescriptors& descriptors) {
  struct stat status {};
  const bool usable = fstat(descriptor, &status) == 0 && is_share_file(status);
  void* mapped = usable
                     ? mmap(nullptr, kHeadBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
                     : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    ::close(descriptor);
    return nullptr;
  }
  madvise(mapped, kHeadBytes, MADV_DONTFORK);
  madvise(mapped, kHeadBytes, MADV_DONTDUMP);
  auto* head = static_cast<Head*>(mapped);
  if (fresh) {
    head->identity = {getpid(), descriptor, status.st_dev, status.st_ino};
    head->magic = kMagic;
  }
  const FileIdentity identity = head->identity;
  const bool genuine =
      head->magic == kMagic && identity.inode == status.st_ino && identity.device == status.st_dev;
  if (!genuine || !descriptors.add(descriptor)) {
    munmap(mapped, kHeadBytes);
    ::close(descriptor);
    return nullptr;
  }
  return std::shared_ptr<ShareFile>(new ShareFile(descriptor, identity, head, descriptors));
}

std::shared_ptr<ShareFile> ShareFile::create(OwnDescriptors& descriptors) {
  if (file_size_is_limited()) return nullptr;  // a larger file would raise SIGXFSZ
  const int descriptor = memfd_create("simulated-gpu-memory", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  if (ftruncate(descriptor, static_cast<off_t>(kFileBytes)) != 0) {
    ::close(descriptor);
    return nullptr;
  }
  return adopt(descriptor, true, descriptors);
}

std::shared_ptr<ShareFile> ShareFile::open(const FileIdentity& identity,
                                           OwnDescriptors& descriptors) {
  const std::string path =
      "/proc/" + std::to_string(identity.pid) + "/fd/" + std::to_string(identity.descriptor);
  // Looked at first: a handle may be wrong, and opening what it names (a pipe, a device) have
  // effects.
  struct stat status {};
  const bool same = stat(path.c_str(), &status) == 0 && is_share_file(status) &&
                    status.st_ino == identity.inode && status.st_dev == identity.device;
  const int descriptor = same ? open_path(path) : -1;
  if (descriptor < 0) return nullptr;
  std::shared_ptr<ShareFile> file = adopt(descriptor, false, descriptors);
  return file && file->same_file(identity) ? file : nullptr;
}

std::shared_ptr<ShareFile> ShareFile::open(int descriptor, OwnDescriptors& descriptors) {
  struct stat status {};
  const bool plausible = fstat(descriptor, &status) == 0 && is_share_file(status);
  const int own = plausible ? reopen(descriptor) : -1;
  return own < 0 ? nullptr : adopt(own, false, descriptors);
}

ShareSlot& ShareFile::slot(uint32_t index) { return head_->slots[index]; }

std::atomic<uint64_t>& ShareFile::foreign_writes() const { return head_->foreign_writes; }

int ShareFile::descriptor() const {
  struct stat status {};
  const bool ours = fstat(descriptor_, &status) == 0 && status.st_ino == identity_.inode &&
                    status.st_dev == identity_.device;
  return ours ? descriptor_ : -1;
}

void ShareFile::discard(uint64_t offset, uint64_t size_bytes) const {
  fallocate(descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(size_bytes));
}

int ShareFile::open_for(uint32_t slot_index, uint64_t offset, uint64_t size_bytes) const {
  const int opened = reopen(descriptor());
  if (opened < 0) return -1;
  const bool ready = lseek(opened, static_cast<off_t>(slot_offset(slot_index)), SEEK_SET) >= 0 &&
                     (size_bytes == 0 || set_lock(opened, F_RDLCK, offset, size_bytes));
  if (ready) return opened;
  ::close(opened);
  return -1;
}

uint32_t ShareFile::slot_of(int descriptor) {
  const off_t position = lseek(descriptor, 0, SEEK_CUR);
  if (position < static_cast<off_t>(slot_offset(0))) return kSlotCount;
  const uint64_t relative = static_cast<uint64_t>(position) - slot_offset(0);
  const uint64_t index = relative / sizeof(ShareSlot);
  const bool exact = relative % sizeof(ShareSlot) == 0 && index < kSlotCount;
  return exact ? static_cast<uint32_t>(index) : kSlotCount;
}

bool ShareFile::hold(uint64_t offset, uint64_t size_bytes) const {
  return set_lock(descriptor(), F_RDLCK, offset, size_bytes);
}

void ShareFile::let_go(uint64_t offset, uint64_t size_bytes) const {
  set_lock(descriptor(), F_UNLCK, offset, size_bytes);
}

bool ShareFile::is_held(uint64_t offset, uint64_t size_bytes) const {
  struct flock lock = range_lock(F_WRLCK, offset, size_bytes);
  return fcntl(descriptor(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace simgpu
