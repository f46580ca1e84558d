#include "recorder/session_opening.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
RingFileWriter* create_ring_file(const std::string& name, RingFileSetup setup) {
  for (int number = 1; number <= kMaxSessionsOfOneName; ++number) {
    const std::string unique = number == 1 ? name : name + "-" + std::to_string(number);
    if (access((unique + kSessionFileSuffix).c_str(), F_OK) == 0) continue;
    setup.path = unique + kRingFileSuffix;
    RingFileWriter* file = RingFileWriter::create(setup);
    if (file != nullptr || errno != EEXIST) return file;
  }
  errno = EEXIST;
  return nullptr;
}

bool drainer_lives(uint32_t pid) {
  return pid != 0 && (kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

// With a second point 1 ms later the rate of the ticks is known even if the process dies at once.
InfoMap describe(const Configuration& configuration, ClockKind clock, const ClockPoint& start) {
  InfoMap info = describe_process(configuration, clock, start);
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
  set_end_point(info, clock_point(clock));
  return info;
}

void open_files(RecordingSession& session) {
  Configuration& configuration = session.configuration;
  if (!drainer_lives(configuration.drainer_pid)) configuration.drainer_pid = 0;
  PatternValues values;
  values.host = host_name();
  values.pid = static_cast<uint32_t>(getpid());
  values.rank = detect_rank(environ);
  const std::string name = absolute(expand_pattern(configuration.output, values));
  make_folder_of(name);

  RingFileSetup setup;
  setup.ring_bytes = configuration.ring_bytes;
  setup.drainer_pid = configuration.drainer_pid;
  setup.clock = session.clock;
  setup.start = clock_point(session.clock);
  setup.process_info = format_info(describe(configuration, session.clock, setup.start));
  session.file = create_ring_file(name, setup);
  if (session.file == nullptr) {
    log_warning("%s%s: cannot be created: %s; this process is not recorded", name.c_str(),
                kRingFileSuffix, std::strerror(errno));
    return;
  }
  log_info("recording into %s", session.file->path().c_str());
  if (configuration.drainer_pid == 0) {
    session.drain_thread = DrainThread::start(session.file->path());
  }
}

}  // namespace

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
