#include "recorder/session_stream.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "recorder/file_error.h"
#include "recorder/process_drain.h"

namespace vramscope {
namespace {

// A thread records what it freed a little later than it took the time. More is decoded before fewer
// events are left than can be out of order.
constexpr size_t kMinQueued = 64;

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

bool comes_before(const SessionEvent& a, const SessionEvent& b) {
  return std::tie(a.event.ticks, a.thread) < std::tie(b.event.ticks, b.thread);
}

}  // namespace

SessionStream::SessionStream(const std::string& path) : decoder_(session_) {
  const std::string name = session_name_of(path);
  ring_path_ = path == name ? std::string() : name + kRingFileSuffix;
  const bool asked_for_ring = path == ring_path_;
  session_.path = asked_for_ring ? name + kSessionFileSuffix : path;
  session_.complete = true;
  // The rings first: what is drained from them meanwhile is found in the session file.
  const bool has_ring = asked_for_ring || (!ring_path_.empty() && is_file(ring_path_));
  if (has_ring) look_into_ring_file();
  if (!has_ring || is_file(session_.path)) {
    open_session_file();
  } else {
    session_.path = ring_path_;
  }
  describe_process();
  fill_all();
  if (session_.info.empty() && waiting_.empty()) {
    throw FileError(session_.path, {}, first_problem(), "nothing could be read");
  }
}

// Windows come behind the rings that say whose they are; those hold no events.
void SessionStream::fill_all() {
  for (const bool windows : {false, true}) {
    for (uint32_t ring = 0; ring < queues_.size(); ++ring) {
      Queue& queue = queues_[ring];
      if (queue.window != windows) continue;
      queue.has_left = !queue.left.bytes.empty() || !queue.left.problem.empty();
      fill(ring);
      if (!queue.events.empty()) waiting_.push_back(ring);
    }
  }
  std::ranges::make_heap(waiting_, later_first());
}

void SessionStream::rewind() {
  decoder_.start_over();
  for (Queue& queue : queues_) {
    queue.next_chunk = 0;
    queue.events.clear();
    queue.begin = 0;
  }
  waiting_.clear();
  returned_ = false;
  rewound_ = true;
  fill_all();
}

std::string SessionStream::first_problem() const {
  if (session_.problems.empty()) return "holds no information about a process";
  const std::string& problem = session_.problems.front();
  return problem.starts_with(session_.path + ": ") ? problem.substr(session_.path.size() + 2)
                                                   : problem;
}

// What the process left in its rings behind what was drained, or has not drained yet.
void SessionStream::look_into_ring_file() {
  const auto ring_file = open_ring_file();
  if (!ring_file) return;
  std::vector<RingRecords> rings = ring_file->look();
  queues_.resize(rings.size());
  for (size_t ring = 0; ring < rings.size(); ++ring) {
    queues_[ring].window = rings[ring].window;
    queues_[ring].left = std::move(rings[ring]);
  }
  session_.info = ring_file->process_info();
  session_.info["finished"] = ring_file->finished() ? "1" : "0";
  lost_in_rings_ = ring_file->lost_events();
  running_ = ring_file->process_lives();
  if (running_) {
    add_problem(ring_path_ + ": process " + std::to_string(ring_file->pid()) +
                " still runs: this is what it has recorded so far");
  }
}

// nullptr: it has just been drained, and removed; or the process has just begun.
std::unique_ptr<RingReader> SessionStream::open_ring_file() {
  try {
    auto ring_file = RingReader::open(ring_path_, RingReader::Access::kLook);
    if (!ring_file) add_problem(FileError(ring_path_, {}, "has no header yet", "").what());
    return ring_file;
  } catch (const FileError& error) {
    if (!is_file(session_.path)) throw;
    if (is_file(ring_path_)) add_problem(error.what());
  }
  return nullptr;
}

void SessionStream::open_session_file() {
  try {
    chunks_ = std::make_unique<ChunkReader>(session_.path);
  } catch (const FileError& error) {
    if (session_.info.empty()) throw;
    // Its first bytes were not written yet when it was left; the rings hold everything.
    if (!running_) add_problem(error.what());
    return;
  }
  const InfoMap of_ring_file = std::move(session_.info);
  session_.info.clear();
  scan_session_file();
  for (const auto& [key, value] : of_ring_file) {
    if (key == "finished" || !session_.info.contains(key)) session_.info[key] = value;
  }
}

void SessionStream::scan_session_file() {
  while (true) {
    const ChunkReader::Step step = chunks_->next();
    if (step == ChunkReader::Step::kEnd) return;
    const ChunkReader::Place& place = chunks_->place();
    if (step == ChunkReader::Step::kCut) {
      if (!running_ || !chunks_->interrupted()) add_problem(chunks_->problem());
      return;
    }
    if (step == ChunkReader::Step::kDamaged) {
      add_problem(chunks_->problem());
    } else {
      take_chunk(place);
    }
  }
}

void SessionStream::take_chunk(const ChunkReader::Place& place) {
  const ChunkHeader& header = place.header;
  if (holds_records(header.type)) {
    if (header.ring >= queues_.size()) queues_.resize(size_t{header.ring} + 1);
    queues_[header.ring].chunks.push_back(place);
    queues_[header.ring].window = header.type == ChunkType::kWindow;
  } else if (!chunks_->load(place)) {
    add_problem(chunks_->problem());
  } else if (header.type == ChunkType::kInfo) {
    const auto& payload = chunks_->payload();
    parse_info({reinterpret_cast<const char*>(payload.data()), payload.size()}, session_.info);
  }
}

void SessionStream::describe_process() {
  const InfoMap& info = session_.info;
  session_.pid = number_of<uint32_t>(info, "pid").value_or(0);
  session_.rank = number_of<uint32_t>(info, "rank");
  session_.host = text_of(info, "host");
  session_.command = text_of(info, "command");
  session_.finished = text_of(info, "finished") == "1";
  session_.start = {number_of<uint64_t>(info, "start_ticks").value_or(0),
                    number_of<uint64_t>(info, "start_unix_ns").value_or(0)};
  session_.end = {number_of<uint64_t>(info, "end_ticks").value_or(session_.start.ticks),
                  number_of<uint64_t>(info, "end_unix_ns").value_or(session_.start.unix_ns)};
  lost_events_said_ = number_of<uint64_t>(info, "lost_events").value_or(0);
  count_lost_events();
}

void SessionStream::count_lost_events() {
  session_.overwritten_events =
      std::max(session_.overwritten_events, decoder_.overwritten_events());
  const uint64_t dropped = std::max({lost_events_said_, decoder_.dropped_events(), lost_in_rings_});
  session_.lost_events = std::max(session_.lost_events, session_.overwritten_events + dropped);
}

const SessionEvent* SessionStream::next() {
  if (returned_) step_on();
  if (waiting_.empty()) {
    say_what_was_overwritten();
    return nullptr;
  }
  returned_ = true;
  const Queue& queue = queues_[waiting_.front()];
  return &queue.events[queue.begin];
}

void SessionStream::say_what_was_overwritten() {
  if (std::exchange(ended_, true) || session_.overwritten_events == 0) return;
  session_.problems.push_back(
      session_.path + ": a flight recorder's: " + std::to_string(session_.overwritten_events) +
      " older events were overwritten");
}

// Behind the event that next() returned: the first of `waiting_`.
void SessionStream::step_on() {
  returned_ = false;
  std::ranges::pop_heap(waiting_, later_first());
  const uint32_t ring = waiting_.back();
  Queue& queue = queues_[ring];
  ++queue.begin;
  if (queue.events.size() - queue.begin < kMinQueued) fill(ring);
  if (queue.begin == queue.events.size()) {
    waiting_.pop_back();
  } else {
    std::ranges::push_heap(waiting_, later_first());
  }
}

// Decodes until enough events wait in the ring's queue, or it has no more.
void SessionStream::fill(uint32_t ring) {
  Queue& queue = queues_[ring];
  if (queue.next_chunk == queue.chunks.size() && !queue.has_left) return;
  queue.events.erase(queue.events.begin(),
                     queue.events.begin() + static_cast<ptrdiff_t>(queue.begin));
  queue.begin = 0;
  while (queue.events.size() < kMinQueued && decode_more(ring)) {
  }
  if (!std::ranges::is_sorted(queue.events, comes_before)) {
    std::ranges::stable_sort(queue.events, comes_before);
  }
  count_lost_events();
}

bool SessionStream::decode_more(uint32_t ring) {
  Queue& queue = queues_[ring];
  if (queue.next_chunk < queue.chunks.size()) {
    const ChunkReader::Place& place = queue.chunks[queue.next_chunk++];
    if (chunks_->load(place)) {
      decode(session_.path, ring, place.header.begin_position, chunks_->payload());
    } else {
      add_problem(chunks_->problem());
    }
    return true;
  }
  if (!std::exchange(queue.has_left, false)) return false;
  const RingRecords& left = queue.left;
  if (!left.bytes.empty()) decode(ring_path_, ring, left.begin_position, left.bytes);
  if (!left.problem.empty()) add_problem(ring_path_ + ": " + left.problem);
  return false;
}

void SessionStream::decode(const std::string& path, uint32_t ring, uint64_t begin_position,
                           std::span<const std::byte> records) {
  Queue& queue = queues_[ring];
  if (queue.window) {
    return decoder_.decode_window(ring, begin_position, records, queue.events);
  }
  if (decoder_.decode(ring, begin_position, records, queue.events)) return;
  add_problem(path + ": events of ring " + std::to_string(ring) + " are missing before position " +
              std::to_string(begin_position));
}

bool SessionStream::is_before(uint32_t ring, uint32_t other) const {
  const auto next_of = [this](uint32_t of) -> const SessionEvent& {
    return queues_[of].events[queues_[of].begin];
  };
  return comes_before(next_of(ring), next_of(other));
}

void SessionStream::add_problem(std::string problem) {
  if (rewound_) return;  // known
  session_.complete = false;
  session_.problems.push_back(std::move(problem));
}

}  // namespace vramscope
