#include "recorder/doorbell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <string_view>

namespace vramscope {
namespace {

constexpr char kName[] = "vramscope-doorbell";
constexpr size_t kBytes = 4096;

Doorbell* map_bell(int fd) {
  void* mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapping == MAP_FAILED ? nullptr : static_cast<Doorbell*>(mapping);
}

// Not any file that has got this number meanwhile.
bool is_doorbell(const std::string& path) {
  char target[64];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  if (length <= 0) return false;
  return std::string_view(target, static_cast<size_t>(length))
      .starts_with(std::string("/memfd:") + kName);
}

}  // namespace

void ring_doorbell(Doorbell& bell, uint32_t what) {
  if ((bell.load(std::memory_order_relaxed) & what) == what) return;
  if (bell.fetch_or(what) != 0) return;
  const int saved_errno = errno;
  syscall(SYS_futex, &bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  errno = saved_errno;
}

uint32_t answer_doorbell(Doorbell& bell, uint64_t timeout_us) {
  constexpr uint64_t kSecond_us = 1'000'000;
  const timespec timeout{static_cast<time_t>(timeout_us / kSecond_us),
                         static_cast<long>(timeout_us % kSecond_us * 1000)};
  syscall(SYS_futex, &bell, FUTEX_WAIT, 0, &timeout, nullptr, 0);
  return bell.exchange(0);
}

std::unique_ptr<SharedDoorbell> SharedDoorbell::create() {
  const int fd = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  // Nobody can make it smaller under those who have it mapped.
  const bool usable =
      ftruncate(fd, kBytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
  Doorbell* bell = usable ? map_bell(fd) : nullptr;
  if (bell == nullptr) {
    close(fd);
    return nullptr;
  }
  return std::unique_ptr<SharedDoorbell>(new SharedDoorbell(fd, new (bell) Doorbell(0)));
}

SharedDoorbell::~SharedDoorbell() {
  munmap(bell_, kBytes);
  close(fd_);
}

Doorbell* find_doorbell(uint32_t pid, int number) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
  if (!is_doorbell(path)) return nullptr;
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  const bool sealed = (fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) != 0;
  struct stat status {};
  const bool usable = sealed && fstat(fd, &status) == 0 && status.st_size >= off_t{kBytes};
  Doorbell* bell = usable ? map_bell(fd) : nullptr;
  close(fd);
  return bell;
}

}  // namespace vramscope
