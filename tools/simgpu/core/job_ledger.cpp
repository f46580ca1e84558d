#include "tools/simgpu/core/job_ledger.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <utility>

namespace simgpu {
namespace {

constexpr uint64_t kMagic = 0x316c656467656c73;
constexpr off_t kTurnByte = 0;

constexpr off_t member_byte(uint32_t member) { return 1 + static_cast<off_t>(member); }

struct flock byte_lock(int16_t type, off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool try_lock(int descriptor, off_t byte) {
  struct flock lock = byte_lock(F_WRLCK, byte);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

bool is_locked_by_others(int descriptor, off_t byte) {
  struct flock lock = byte_lock(F_WRLCK, byte);
  return fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace

struct JobLedger::Head {
  uint64_t magic;
  std::atomic<uint32_t> members;  // lines that were ever claimed
  uint32_t unused;
  std::atomic<uint64_t> used_bytes[kMaxMembers][kMaxDevices];
};

// The right to write. Every write is one word, so that a writer that dies leaves the ledger valid.
class JobLedger::Turn {
 public:
  explicit Turn(int descriptor) : descriptor_(descriptor) {
    struct flock lock = byte_lock(F_WRLCK, kTurnByte);
    while (fcntl(descriptor_, F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    struct flock lock = byte_lock(F_UNLCK, kTurnByte);
    fcntl(descriptor_, F_OFD_SETLK, &lock);
  }

 private:
  int descriptor_;
};

int JobLedger::create() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(Head)) return -1;
  const int descriptor = memfd_create("simulated-gpu-job", MFD_CLOEXEC);
  if (descriptor < 0) return -1;
  const bool ready =
      ftruncate(descriptor, sizeof(Head)) == 0 &&
      pwrite(descriptor, &kMagic, sizeof kMagic, 0) == static_cast<ssize_t>(sizeof kMagic);
  if (ready) return descriptor;
  close(descriptor);
  return -1;
}

std::string JobLedger::name_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return {};
  return std::to_string(getpid()) + ":" + std::to_string(descriptor) + ":" +
         std::to_string(status.st_ino);
}

std::unique_ptr<JobLedger> JobLedger::join(const std::string& name) {
  int pid = 0;
  int number = 0;
  unsigned long inode = 0;
  if (std::sscanf(name.c_str(), "%d:%d:%lu", &pid, &number, &inode) != 3) return nullptr;
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
  struct stat status {};
  // Looked at first: the number may stand for anything else now, and opening may have effects.
  if (stat(path.c_str(), &status) != 0 || status.st_ino != inode) return nullptr;
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  const bool same = fstat(descriptor, &status) == 0 && status.st_ino == inode &&
                    status.st_size == static_cast<off_t>(sizeof(Head));
  void* mapped =
      same ? mmap(nullptr, sizeof(Head), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
           : MAP_FAILED;
  if (mapped == MAP_FAILED) {
    close(descriptor);
    return nullptr;
  }
  madvise(mapped, sizeof(Head), MADV_DONTFORK);
  std::unique_ptr<JobLedger> ledger(new JobLedger(descriptor, inode, static_cast<Head*>(mapped)));
  return ledger->claim_line() ? std::move(ledger) : nullptr;
}

JobLedger::JobLedger(int descriptor, uint64_t inode, Head* head)
    : descriptor_(descriptor), inode_(inode), head_(head) {}

JobLedger::~JobLedger() {
  munmap(head_, sizeof(Head));
  close_in_child();
}

void JobLedger::close_in_child() {
  const int own = descriptor();
  if (own >= 0) close(own);
}

// -1 where the program closed it: then nobody waits for a turn any more, and the line stays.
int JobLedger::descriptor() const {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_ino == inode_ ? descriptor_ : -1;
}

bool JobLedger::claim_line() {
  if (head_->magic != kMagic) return false;
  const Turn turn(descriptor_);
  for (member_ = 0; member_ < kMaxMembers; ++member_) {
    if (!try_lock(descriptor_, member_byte(member_))) continue;
    for (auto& bytes : head_->used_bytes[member_]) bytes.store(0);
    head_->members.store(std::max(head_->members.load(), member_ + 1));
    return true;
  }
  return false;
}

uint64_t JobLedger::sum(int board) const {
  uint64_t total = 0;
  const uint32_t members = std::min(head_->members.load(), kMaxMembers);
  for (uint32_t i = 0; i < members; ++i) total += head_->used_bytes[i][board].load();
  return total;
}

void JobLedger::drop_dead_members() const {
  const uint32_t members = std::min(head_->members.load(), kMaxMembers);
  for (uint32_t i = 0; i < members; ++i) {
    auto& line = head_->used_bytes[i];
    const bool empty = std::all_of(std::begin(line), std::end(line),
                                   [](const auto& bytes) { return bytes.load() == 0; });
    if (i == member_ || empty || is_locked_by_others(descriptor(), member_byte(i))) continue;
    for (auto& bytes : line) bytes.store(0);
  }
}

bool JobLedger::take(int board, uint64_t bytes, uint64_t capacity_bytes) {
  const Turn turn(descriptor());
  const auto fits = [&] {
    const uint64_t used = sum(board);
    return used <= capacity_bytes && bytes <= capacity_bytes - used;
  };
  if (!fits()) {
    drop_dead_members();
    if (!fits()) return false;
  }
  head_->used_bytes[member_][board].fetch_add(bytes);
  return true;
}

void JobLedger::give_back(int board, uint64_t bytes) {
  head_->used_bytes[member_][board].fetch_sub(bytes);
}

uint64_t JobLedger::used_bytes(int board) {
  const Turn turn(descriptor());
  drop_dead_members();
  return sum(board);
}

}  // namespace simgpu
