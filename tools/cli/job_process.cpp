#include "tools/cli/job_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "tools/model/user_error.h"

namespace vramscope {
namespace {

// For the signal handlers, which have no other way to them.
std::atomic<pid_t> job_pid{0};
std::atomic<Doorbell*> job_end_bell{nullptr};

constexpr int kPassedOnSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                    SIGUSR2, SIGCONT, SIGALRM, SIGWINCH};

// What the terminal sends reaches the job by itself; so only what a process sent is passed on.
void pass_on(int signal_number, siginfo_t* info, void*) {
  const pid_t pid = job_pid.load();
  const bool sent_by_process = info->si_code <= 0;
  if (pid > 0 && sent_by_process && info->si_pid != pid) kill(pid, signal_number);
}

void tell_end(int) { ring_doorbell(*job_end_bell.load(), kStopRung); }

// Returns whether SIGCHLD was ignored: then the kernel would reap the job unseen.
bool watch_end(Doorbell& bell) {
  job_end_bell.store(&bell);
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = tell_end;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGCHLD, &action, &before);
  return before.sa_handler == SIG_IGN;
}

void pass_on_signals() {
  for (const int signal_number : kPassedOnSignals) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    // The job inherits what is ignored (nohup), and handlers end with exec.
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// A file without `#!` that the kernel does not know is a shell script: POSIX, execvp.
void execute(const std::string& path, const std::vector<std::string>& arguments,
             char* const* environment) {
  execve(path.c_str(), pointers(arguments).data(), environment);
  if (errno != ENOEXEC) return;
  std::vector<std::string> shell = {"/bin/sh", path};
  shell.insert(shell.end(), arguments.begin() + 1, arguments.end());
  execve("/bin/sh", pointers(shell).data(), environment);
}

}  // namespace

JobProcess::JobProcess(const std::string& path, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, Doorbell& bell) {
  // Closed by a successful exec, else it brings errno.
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) {
    throw UserError(std::string("no pipe: ") + std::strerror(errno));
  }
  const std::vector<char*> environment_pointers = pointers(environment);
  pass_on_signals();
  const bool child_ignores_end = watch_end(bell);
  pid_ = fork();
  if (pid_ == 0) {
    if (child_ignores_end) signal(SIGCHLD, SIG_IGN);
    execute(path, arguments, environment_pointers.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(error_pipe[1], &error, sizeof(error));
    _exit(127);
  }
  const int fork_error = errno;
  close(error_pipe[1]);
  if (pid_ < 0) {
    close(error_pipe[0]);
    throw UserError(std::string("no process for the job: ") + std::strerror(fork_error));
  }
  job_pid.store(pid_);
  while (read(error_pipe[0], &exec_error_, sizeof(exec_error_)) < 0 && errno == EINTR) {
  }
  close(error_pipe[0]);
}

bool JobProcess::ended() { return waitpid(pid_, &status_, WNOHANG) == pid_; }

int JobProcess::leave_like_job() const {
  if (!WIFSIGNALED(status_)) return WEXITSTATUS(status_);
  const int signal_number = WTERMSIG(status_);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);
  signal(signal_number, SIG_DFL);
  sigset_t only_this;
  sigemptyset(&only_this);
  sigaddset(&only_this, signal_number);
  sigprocmask(SIG_UNBLOCK, &only_this, nullptr);
  raise(signal_number);
  return 128 + signal_number;
}

}  // namespace vramscope
