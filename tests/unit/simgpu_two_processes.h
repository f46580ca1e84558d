// Two processes that use the simulated driver and talk to each other.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "simgpu_driver_support.h"

// One end of the line between both. Every receive waits; a partner that is gone fails the test.
class Line {
 public:
  explicit Line(int socket) : socket_(socket) {}

  template <typename Value>
  void send(const Value& value) const {
    ASSERT_EQ(write(socket_, &value, sizeof value), static_cast<ssize_t>(sizeof value));
  }

  template <typename Value>
  Value receive() const {
    Value value{};
    EXPECT_EQ(recv(socket_, &value, sizeof value, MSG_WAITALL), static_cast<ssize_t>(sizeof value));
    return value;
  }

  // Where one has to wait until the other got there.
  void signal() const { send('.'); }
  void wait() const { EXPECT_EQ(receive<char>(), '.'); }

  // Waits until the partner's process has ended.
  void expect_end() const {
    char byte = 0;
    EXPECT_EQ(recv(socket_, &byte, 1, 0), 0);
  }

  void send_descriptor(int descriptor) const {
    Message message;
    cmsghdr* header = CMSG_FIRSTHDR(&message.head);
    *header = {CMSG_LEN(sizeof descriptor), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    ASSERT_EQ(sendmsg(socket_, &message.head, 0), 1);
  }

  int receive_descriptor() const {
    Message message;
    EXPECT_EQ(recvmsg(socket_, &message.head, 0), 1);
    const cmsghdr* header = CMSG_FIRSTHDR(&message.head);
    int descriptor = -1;
    if (header) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
  }

 private:
  struct Message {
    Message() {
      head.msg_iov = &content;
      head.msg_iovlen = 1;
      head.msg_control = control;
      head.msg_controllen = sizeof control;
    }
    char byte = 0;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec content{&byte, 1};
    msghdr head{};
  };

  int socket_;
};

inline pid_t start_process(const std::vector<Environment>& environment, int socket, int other,
                           void (*body)(const Line&)) {
  const pid_t child = fork();
  if (child != 0) return child;
  close(other);
  for (const char* name : kConfiguration) unsetenv(name);
  for (const Environment& variable : environment) setenv(variable.name, variable.value, 1);
  EXPECT_NE(library(), nullptr) << dlerror();
  if (!testing::Test::HasFailure()) body(Line(socket));
  std::fflush(nullptr);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

// Runs both; failed expectations of either fail the test. A body may kill its process (SIGKILL).
inline void two_processes(void (*first)(const Line&), void (*second)(const Line&),
                          const std::vector<Environment>& environment = {}) {
  std::fflush(nullptr);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const pid_t children[] = {start_process(environment, sockets[0], sockets[1], first),
                            start_process(environment, sockets[1], sockets[0], second)};
  close(sockets[0]);
  close(sockets[1]);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << "status " << status;
  }
}
