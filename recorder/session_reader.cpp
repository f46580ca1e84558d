#include "recorder/session_reader.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "recorder/process_drain.h"
#include "recorder/session_stream.h"

namespace vramscope {

Session read_session(const std::string& path) {
  SessionStream stream(path);
  std::vector<SessionEvent> events;
  while (const SessionEvent* event = stream.next()) events.push_back(*event);
  Session session = std::move(stream.session());
  session.events = std::move(events);
  return session;
}

std::vector<std::string> find_sessions(const std::string& folder) {
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) {
    throw FileError(folder, {}, std::string("cannot be opened: ") + std::strerror(errno), "");
  }
  std::set<std::string> sessions;
  std::set<std::string> rings;
  while (const dirent* entry = readdir(directory)) {
    const std::string path = folder + "/" + entry->d_name;
    if (path.ends_with(kSessionFileSuffix)) sessions.insert(path);
    if (path.ends_with(kRingFileSuffix)) rings.insert(path);
  }
  closedir(directory);
  for (const std::string& ring : rings) {
    if (!sessions.contains(session_name_of(ring) + kSessionFileSuffix)) sessions.insert(ring);
  }
  if (sessions.empty()) {
    throw FileError(folder, {}, "holds no session file (*.vrams)",
                    "the program made no CUDA memory call, or wrote elsewhere");
  }
  // By name without suffix: NAME-2, of the program that NAME's process executed, follows NAME.
  std::vector<std::string> sorted(sessions.begin(), sessions.end());
  std::ranges::sort(sorted, {}, session_name_of);
  return sorted;
}

}  // namespace vramscope
