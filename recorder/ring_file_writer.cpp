#include "recorder/ring_file_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "recorder/clock.h"
#include "recorder/process_life.h"

namespace vramscope {
namespace {

// Out of the way of programs that count on the next free small number.
int move_descriptor_up(int fd) {
  for (const int lowest : {1000, 200}) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (moved >= 0) {
      close(fd);
      return moved;
    }
  }
  return fd;
}

// Populated: the pages' first faults would otherwise fall on the events.
std::byte* map_shared(int fd, uint64_t offset, uint64_t bytes) {
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                       static_cast<off_t>(offset));
  return mapping == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapping);
}

// Growing a file beyond this limit would not only fail: the signal for it ends most programs.
bool exceeds_file_size_limit(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur;
}

// errno is set as for the calls that use it.
bool allocate(int fd, uint64_t offset, uint64_t bytes) {
  if (exceeds_file_size_limit(offset + bytes)) {
    errno = EFBIG;
    return false;
  }
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  errno = error;
  return error == 0;
}

}  // namespace

RingFileWriter* RingFileWriter::create(const RingFileSetup& setup) {
  const int created = open(setup.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (created < 0) return nullptr;
  const int fd = move_descriptor_up(created);
  // Where the file system knows no locks, the mapping alone shows that the process lives.
  lock_byte(fd, kProcessLockByte);
  std::byte* mapping =
      allocate(fd, 0, kFirstRingOffset) ? map_shared(fd, 0, kFirstRingOffset) : nullptr;
  RingFileWriter* writer =
      mapping == nullptr ? nullptr : new (std::nothrow) RingFileWriter(setup, fd, mapping);
  if (writer == nullptr) {
    const int saved_errno = errno;
    if (mapping != nullptr) munmap(mapping, kFirstRingOffset);
    unlink(setup.path.c_str());
    close(fd);
    errno = saved_errno;
  }
  return writer;
}

RingFileWriter::RingFileWriter(const RingFileSetup& setup, int fd, std::byte* mapping)
    : path_(setup.path),
      ring_bytes_(setup.ring_bytes),
      header_(reinterpret_cast<RingFileHeader*>(mapping)),
      controls_(reinterpret_cast<RingControl*>(mapping + kRingControlOffset)),
      doorbell_(setup.drainer_doorbell != nullptr ? setup.drainer_doorbell : &header_->doorbell),
      fd_(fd),
      created_at_ns_(monotonic_ns()) {
  struct stat status {};
  if (fstat(fd, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  header_->version = kRingFileVersion;
  header_->pid = static_cast<uint32_t>(getpid());
  header_->ring_bytes = setup.ring_bytes;
  header_->clock = setup.clock;
  header_->start = setup.start;
  header_->drainer_pid = setup.drainer_pid;
  header_->overflow = setup.overflow;
  header_->rings_doorbell = setup.drainer_doorbell != nullptr ? 1 : 0;
  memcpy(mapping + kProcessInfoOffset, setup.process_info.data(),
         std::min(setup.process_info.size(), kProcessInfoBytes - 1));
  header_->magic.store(kRingFileMagic, std::memory_order_release);
}

// Programs that become daemons close every descriptor; the number may be somebody else's file now.
bool RingFileWriter::own_descriptor() {
  const auto is_ours = [this](int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  };
  if (is_ours(fd_.load())) return true;
  const int opened = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) return false;
  const int fd = move_descriptor_up(opened);
  if (!is_ours(fd)) {
    close(fd);
    return false;
  }
  lock_byte(fd, kProcessLockByte);
  fd_.store(fd);
  return true;
}

// A lock that is not held may not have been taken yet: after this time it is not going to be.
bool RingFileWriter::drainer_lives() {
  constexpr uint64_t kMaxStart_ns = 2'000'000'000;
  const uint32_t pid = header_->drainer_pid;
  const uint32_t claimed = header_->was_claimed.load();
  if (own_descriptor() && byte_is_locked(fd_.load(), kDrainerLockByte)) return true;
  if (claimed == 1) return false;
  if (claimed == 0 && monotonic_ns() - created_at_ns_ > kMaxStart_ns) return false;
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

void RingFileWriter::set_own_drainer() {
  doorbell_.store(&header_->doorbell, std::memory_order_relaxed);
}

void RingFileWriter::count_shortage() {
  header_->shortages.fetch_add(1);
  if (header_->overflow == Overflow::kFlightRecorder) wake_drainer(kWorkRung);
}

Ring RingFileWriter::ring_at(uint32_t index, std::byte* records) const {
  return {&controls_[index], records, ring_bytes_, index, &doorbell_};
}

std::optional<Ring> RingFileWriter::claim_ring(uint32_t thread_id, RingRole role) {
  std::optional<Ring> ring = reuse_ring(thread_id, role);
  if (!ring) ring = append_ring(thread_id, role);
  if (!ring) header_->lost_rings.fetch_add(1, std::memory_order_relaxed);
  return ring;
}

std::optional<Ring> RingFileWriter::reuse_ring(uint32_t thread_id, RingRole role) {
  const uint32_t count = std::min(header_->ring_count.load(), kMaxRings);
  for (uint32_t i = 0; i < count; ++i) {
    RingControl& control = controls_[i];
    std::byte* records = mapped_rings_[i].load(std::memory_order_acquire);
    if (records == nullptr || control.role.load(std::memory_order_relaxed) != role) continue;
    RingState state = RingState::kFree;
    if (!control.state.compare_exchange_strong(state, RingState::kInUse)) continue;
    control.thread_id.store(thread_id, std::memory_order_relaxed);
    return ring_at(i, records);
  }
  return std::nullopt;
}

std::optional<Ring> RingFileWriter::append_ring(uint32_t thread_id, RingRole role) {
  const uint32_t index = next_ring_.fetch_add(1);
  if (index >= kMaxRings) {
    next_ring_.store(kMaxRings);
    return std::nullopt;
  }
  const uint64_t offset = kFirstRingOffset + index * ring_bytes_;
  if (!own_descriptor() || !allocate(fd_.load(), offset, ring_bytes_)) return std::nullopt;
  std::byte* records = map_shared(fd_.load(), offset, ring_bytes_);
  if (records == nullptr) return std::nullopt;
  RingControl& control = controls_[index];
  control.thread_id.store(thread_id, std::memory_order_relaxed);
  control.role.store(role, std::memory_order_relaxed);
  control.state.store(RingState::kInUse, std::memory_order_relaxed);
  control.file_offset.store(offset, std::memory_order_release);
  mapped_rings_[index].store(records, std::memory_order_release);
  uint32_t count = header_->ring_count.load();
  while (count < index + 1 && !header_->ring_count.compare_exchange_weak(count, index + 1)) {
  }
  return ring_at(index, records);
}

void RingFileWriter::close_ring(const Ring& ring) {
  ring.control->state.store(RingState::kClosed, std::memory_order_release);
}

}  // namespace vramscope
