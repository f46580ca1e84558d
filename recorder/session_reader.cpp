#include "recorder/session_reader.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <tuple>

#include "recorder/chunk_reader.h"
#include "recorder/process_drain.h"
#include "recorder/record_decoder.h"
#include "recorder/ring_reader.h"

namespace vramscope {
namespace {

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

template <typename Number>
std::optional<Number> number_of(const InfoMap& info, std::string_view key) {
  const auto found = info.find(key);
  if (found == info.end()) return std::nullopt;
  Number number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stop, error] = std::from_chars(found->second.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string text_of(const InfoMap& info, std::string_view key) {
  const auto found = info.find(key);
  return found == info.end() ? std::string() : found->second;
}

class SessionReading {
 public:
  explicit SessionReading(std::string path) : decoder_(session_) {
    session_.path = std::move(path);
  }

  void read_session_file() {
    ChunkReader chunks(session_.path);
    session_.complete = true;
    while (true) {
      const ChunkReader::Step step = chunks.next();
      if (step == ChunkReader::Step::kEnd) break;
      if (step == ChunkReader::Step::kChunk) {
        take_chunk(chunks);
        continue;
      }
      add_problem(chunks.problem());
      if (step == ChunkReader::Step::kCut) break;
    }
  }

  // What the process left in its rings behind what was drained.
  void read_ring_file(const std::string& path) {
    const auto ring_file = RingReader::open(path, RingReader::Access::kLook);
    if (!ring_file) {
      add_problem(FileError(path, {}, "has no header yet", "").what());
      return;
    }
    if (session_.info.empty()) {
      session_.info = ring_file->process_info();
      session_.complete = true;
    }
    lost_in_rings_ = ring_file->lost_events();
    session_.info["finished"] = ring_file->finished() ? "1" : "0";
    for (uint32_t ring = 0; ring < ring_file->ring_count(); ++ring)
      read_ring(*ring_file, ring, path);
  }

  bool empty() const { return session_.info.empty() && session_.events.empty(); }

  Session finish() {
    if (empty()) throw FileError(session_.path, {}, first_problem(), "nothing could be read");
    const InfoMap& info = session_.info;
    session_.pid = number_of<uint32_t>(info, "pid").value_or(0);
    session_.rank = number_of<uint32_t>(info, "rank");
    session_.host = text_of(info, "host");
    session_.command = text_of(info, "command");
    session_.finished = text_of(info, "finished") == "1";
    session_.lost_events = std::max({number_of<uint64_t>(info, "lost_events").value_or(0),
                                     decoder_.dropped_events(), lost_in_rings_});
    session_.start = {number_of<uint64_t>(info, "start_ticks").value_or(0),
                      number_of<uint64_t>(info, "start_unix_ns").value_or(0)};
    session_.end = {number_of<uint64_t>(info, "end_ticks").value_or(session_.start.ticks),
                    number_of<uint64_t>(info, "end_unix_ns").value_or(session_.start.unix_ns)};
    sort_events();
    return std::move(session_);
  }

 private:
  std::string first_problem() const {
    if (session_.problems.empty()) return "holds no information about a process";
    const std::string& problem = session_.problems.front();
    return problem.starts_with(session_.path + ": ") ? problem.substr(session_.path.size() + 2)
                                                     : problem;
  }

  void take_chunk(const ChunkReader& chunk) {
    const auto& payload = chunk.payload();
    if (chunk.header().type == ChunkType::kInfo) {
      parse_info({reinterpret_cast<const char*>(payload.data()), payload.size()}, session_.info);
    } else if (chunk.header().type == ChunkType::kRecords) {
      take_records(session_.path, chunk.header().ring, chunk.header().begin_position, payload);
    }
  }

  void read_ring(const RingReader& ring_file, uint32_t ring, const std::string& path) {
    RingRecords records;
    uint64_t from = ring_file.resume_position(ring, decoder_.next_position(ring));
    do {
      ring_file.read(ring, from, kMaxChunkRawBytes, records);
      if (!records.problem.empty()) add_problem(path + ": " + records.problem);
      if (records.bytes.empty()) break;
      take_records(path, ring, records.begin_position, records.bytes);
      from = records.end_position();
    } while (records.problem.empty());
  }

  void take_records(const std::string& path, uint32_t ring, uint64_t begin_position,
                    std::span<const std::byte> records) {
    if (!decoder_.decode(ring, begin_position, records)) {
      add_problem(path + ": events of ring " + std::to_string(ring) +
                  " are missing before position " + std::to_string(begin_position));
    }
  }

  void add_problem(std::string problem) {
    session_.complete = false;
    session_.problems.push_back(std::move(problem));
  }

  void sort_events() {
    const auto earlier = [](const SessionEvent& a, const SessionEvent& b) {
      return std::tie(a.event.ticks, a.thread) < std::tie(b.event.ticks, b.thread);
    };
    std::stable_sort(session_.events.begin(), session_.events.end(), earlier);
  }

  Session session_;
  RecordDecoder decoder_;
  uint64_t lost_in_rings_ = 0;
};

}  // namespace

Session read_session(const std::string& path) {
  const std::string name = session_name_of(path);
  const std::string ring_path = name + kRingFileSuffix;
  const bool asked_for_ring = path == ring_path;
  const std::string session_path = asked_for_ring ? name + kSessionFileSuffix : path;
  const bool has_ring = asked_for_ring || (path != name && is_file(ring_path));
  const bool has_session = !asked_for_ring || is_file(session_path);
  SessionReading reading(has_session ? session_path : ring_path);
  if (has_session) reading.read_session_file();
  if (has_ring) reading.read_ring_file(ring_path);
  return reading.finish();
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
