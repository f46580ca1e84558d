// Wakes whoever drains: a word in shared memory, which writers set and the drainer sleeps on (a
// futex). Writers call the kernel only when the drainer may be asleep.
//
// With plain LD_PRELOAD the word is in the ring file's header. `vramscope run` drains many
// processes: it has one word for all, in a SharedDoorbell.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace vramscope {

using Doorbell = std::atomic<uint32_t>;  // bits of what happened since the drainer last looked

constexpr uint32_t kWorkRung = 1;     // a ring is half full, or its contents are wanted
constexpr uint32_t kNewFileRung = 2;  // a process has opened its ring file
constexpr uint32_t kStopRung = 4;     // the job has ended

// From any thread and signal handlers. Keeps errno.
void ring_doorbell(Doorbell& bell, uint32_t what);

// What has been rung since the last call; waits for it at most `timeout_us`, or until a signal.
uint32_t answer_doorbell(Doorbell& bell, uint64_t timeout_us);

// A doorbell that other processes find by this one's id and a number, as long as it lives.
class SharedDoorbell {
 public:
  // nullptr: this kernel has none; then those who drain must look for work by themselves.
  static std::unique_ptr<SharedDoorbell> create();
  ~SharedDoorbell();
  SharedDoorbell(const SharedDoorbell&) = delete;
  SharedDoorbell& operator=(const SharedDoorbell&) = delete;

  Doorbell& bell() { return *bell_; }
  int number() const { return fd_; }

 private:
  SharedDoorbell(int fd, Doorbell* bell) : fd_(fd), bell_(bell) {}
  const int fd_;
  Doorbell* const bell_;
};

// The doorbell that process `pid` created under `number`, mapped for ever; nullptr: there is none,
// or this process may not see it.
Doorbell* find_doorbell(uint32_t pid, int number);

}  // namespace vramscope
