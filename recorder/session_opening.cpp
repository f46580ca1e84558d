#include "recorder/session_opening.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "recorder/clock.h"
#include "recorder/log.h"
#include "recorder/process_info.h"
#include "recorder/session_file.h"

namespace vramscope {
namespace {

constexpr int kMaxSessionsOfOneName = 1000;

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char* folder = get_current_dir_name();
  if (folder == nullptr) return path;
  std::string joined = std::string(folder) + "/" + path;
  free(folder);
  return joined;
}

// mkdir -p for the folder that `path` lies in. Errors show when the file is created.
void make_folder_of(const std::string& path) {
  for (size_t i = path.find('/', 1); i != std::string::npos; i = path.find('/', i + 1)) {
    mkdir(path.substr(0, i).c_str(), 0777);
  }
}

// A process that executes another program keeps its pid: the second session is called NAME-2.
// Returns that name; empty: there are too many.
std::string unused_name(const std::string& name) {
  for (int number = 1; number <= kMaxSessionsOfOneName; ++number) {
    std::string unique = number == 1 ? name : name + "-" + std::to_string(number);
    const bool used = access((unique + kSessionFileSuffix).c_str(), F_OK) == 0 ||
                      access((unique + kRingFileSuffix).c_str(), F_OK) == 0;
    if (!used) return unique;
  }
  return {};
}

// What the kernel says where files cannot be mapped shared and writable: FUSE, 9p.
bool has_no_shared_mappings(int error) {
  return error == ENODEV || error == EINVAL || error == EOPNOTSUPP;
}

// Creates NAME.ring. Elsewhere where the folder's file system cannot map it: then a thread of this
// process drains it into NAME.vrams.
void create_ring_file(const std::string& name, RingFileSetup& setup, RecordingSession& session) {
  setup.path = name + kRingFileSuffix;
  session.session_path = name + kSessionFileSuffix;
  session.file = RingFileWriter::create(setup);
  if (session.file != nullptr || !has_no_shared_mappings(errno)) return;
  const std::string path = setup.path;
  setup.drainer_pid = 0;
  setup.drainer_doorbell = nullptr;
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    setup.path = folder + path.substr(path.rfind('/'));
    session.file = RingFileWriter::create(setup);
    if (session.file == nullptr) continue;
    log_warning(
        "%s: its file system has no shared memory mappings; using %s, which is where the "
        "last events are if this process is killed",
        path.c_str(), setup.path.c_str());
    return;
  }
  setup.path = path;
}

bool drainer_lives(uint32_t pid) {
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

const char* reason(int error) {
  return error == EFBIG ? "it would exceed the limit of a file's size (ulimit -f)"
                        : std::strerror(error);
}

// With a second point 1 ms later the rate of the ticks is known even if the process dies at once.
InfoMap describe(const Configuration& configuration, ClockKind clock, const ClockPoint& start) {
  InfoMap info = describe_process(configuration, clock, start);
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
  set_end_point(info, clock_point(clock));
  return info;
}

void start_drain_thread(RecordingSession& session) {
  session.file->set_own_drainer();
  session.drain_thread = DrainThread::start(session.file->path(), session.session_path);
}

RingFileSetup ring_file_setup(const RecordingSession& session) {
  const Configuration& configuration = session.configuration;
  RingFileSetup setup;
  setup.ring_bytes = configuration.ring_bytes;
  setup.overflow = configuration.overflow;
  // A thread has two rings then.
  if (setup.overflow == Overflow::kFlightRecorder) {
    setup.ring_bytes = std::max(kMinRingBytes, setup.ring_bytes / 2);
  }
  if (drainer_lives(configuration.drainer_pid)) {
    setup.drainer_pid = configuration.drainer_pid;
    setup.drainer_doorbell =
        find_doorbell(configuration.drainer_pid, configuration.drainer_doorbell);
  }
  setup.clock = session.clock;
  setup.start = clock_point(session.clock);
  setup.process_info = format_info(describe(configuration, session.clock, setup.start));
  return setup;
}

void open_files(RecordingSession& session) {
  PatternValues values;
  values.host = host_name();
  values.pid = static_cast<uint32_t>(getpid());
  values.rank = detect_rank(environ);
  const std::string name = absolute(expand_pattern(session.configuration.output, values));
  make_folder_of(name);
  RingFileSetup setup = ring_file_setup(session);
  errno = EEXIST;
  while (session.file == nullptr && errno == EEXIST) {  // others may look for a name meanwhile
    const std::string unique = unused_name(name);
    if (unique.empty()) break;
    create_ring_file(unique, setup, session);
  }
  if (session.file == nullptr) {
    log_warning("%s%s: cannot be created: %s; this process is not recorded", name.c_str(),
                kRingFileSuffix, reason(errno));
    return;
  }
  log_info("recording into %s", session.file->path().c_str());
  if (setup.drainer_pid == 0) {
    start_drain_thread(session);
  } else {
    session.file->wake_drainer(kNewFileRung);
  }
}

}  // namespace

void replace_dead_drainer(RecordingSession& session) {
  if (session.file == nullptr || session.drain_thread != nullptr) return;
  if (session.file->drainer_lives()) return;
  log_info("%s is drained by this process now: its drainer is gone", session.file->path().c_str());
  start_drain_thread(session);
}

RecordingSession* open_recording_session(ClockKind clock) {
  auto* session = new RecordingSession;
  session->clock = clock;
  try {
    session->configuration = read_configuration(environ);
    set_log_level(session->configuration.log_level);
    for (const std::string& warning : session->configuration.warnings) {
      log_warning("%s", warning.c_str());
    }
    open_files(*session);
  } catch (const std::exception& error) {
    log_warning("%s; this process is not recorded", error.what());
  }
  return session;
}

}  // namespace vramscope
