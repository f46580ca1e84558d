#include "recorder/process_drain.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/clock.h"
#include "recorder/file_error.h"
#include "recorder/log.h"
#include "recorder/process_info.h"
#include "recorder/record.h"

namespace vramscope {
namespace {

constexpr uint64_t kSecond_ns = 1'000'000'000;
constexpr char kDeleted[] = ": was deleted while its process was recorded: its events are lost";
constexpr size_t kChunkBytes = 512 << 10;
static_assert(kChunkBytes <= kMaxChunkRawBytes && kMaxDefinitionBytes <= kMaxChunkRawBytes);

// What the user can do, or at least know.
std::string reason(int error) {
  if (error == EFBIG) return "it would exceed the limit of a file's size (ulimit -f)";
  if (error == ENOENT) return "its folder is gone";
  return std::strerror(error);
}

}  // namespace

std::string session_name_of(const std::string& path) {
  for (const std::string_view suffix : {kRingFileSuffix, kSessionFileSuffix}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

ProcessDrain::ProcessDrain(std::unique_ptr<RingReader> reader)
    : reader_(std::move(reader)),
      session_path_(session_name_of(reader_->path()) + kSessionFileSuffix) {}

ProcessDrain::ProcessDrain(std::unique_ptr<RingReader> reader, std::string session_path)
    : reader_(std::move(reader)), session_path_(std::move(session_path)) {}

uint64_t ProcessDrain::drain(Amount amount) {
  const uint64_t now_ns = monotonic_ns();
  const uint32_t rings = reader_->ring_count();
  const uint64_t written = reader_->written_bytes();
  const uint32_t shortages = reader_->shortages();
  const bool everything = amount == Amount::kEverything;
  active_ = written != written_;
  written_ = written;
  drained_at_ns_.resize(std::max<size_t>(drained_at_ns_.size(), rings), now_ns);
  damaged_.resize(drained_at_ns_.size(), false);
  uint64_t drained = 0;
  for (uint32_t ring = 0; ring < rings; ++ring) {
    if (damaged_[ring]) continue;
    if (reader_->pending_bytes(ring) == 0) {
      drained_at_ns_[ring] = now_ns;
      reader_->free_if_drained(ring);
      continue;
    }
    if (!everything && !is_due(ring, shortages != dumps_, now_ns)) continue;
    if (!everything && now_ns < retry_at_ns_) return drained;
    drained_at_ns_[ring] = now_ns;
    drained += drain_ring(ring);
    reader_->free_if_drained(ring);
  }
  if (now_ns >= retry_at_ns_) dumps_ = shortages;
  if (drained != 0 && now_ns - end_point_at_ns_ >= kSecond_ns) {
    end_point_at_ns_ = now_ns;
    write_end_point();
  }
  return drained;
}

bool ProcessDrain::is_due(uint32_t ring, bool dump, uint64_t now_ns) const {
  if (reader_->closed(ring)) return true;
  if (reader_->is_window(ring)) return dump;
  return reader_->pending_bytes(ring) >= reader_->ring_bytes() / 4 ||
         now_ns - drained_at_ns_[ring] >= kSecond_ns;
}

uint64_t ProcessDrain::drain_ring(uint32_t ring) {
  if (!open_session()) return 0;
  const ChunkType type = reader_->is_window(ring) ? ChunkType::kWindow : ChunkType::kRecords;
  // What was there at first, in one or two pieces (the second at the ring's start): what arrives
  // meanwhile would only make small chunks.
  const uint64_t pending = reader_->pending_bytes(ring);
  uint64_t drained = 0;
  while (true) {
    const uint64_t drained_before = reader_->drained_position(ring);
    reader_->read(ring, reader_->resume_position(ring, {}), kChunkBytes, records_);
    if (!records_.bytes.empty()) {
      if (!writer_->write_records(ring, records_.begin_position, records_.bytes, records_.events,
                                  type)) {
        report("cannot be written");
        return drained;
      }
      overwritten_events_ += (records_.begin_position - drained_before) / sizeof(Event);
      reader_->release(ring, records_.end_position());
      drained += records_.bytes.size();
    }
    if (!records_.problem.empty()) {
      log_warning("%s: %s; the rest of this thread's events is lost", ring_path().c_str(),
                  records_.problem.c_str());
      damaged_[ring] = true;
    }
    if (records_.bytes.empty() || damaged_[ring] || drained >= pending) {
      return drained;
    }
  }
}

bool ProcessDrain::open_session() {
  if (writer_) return true;
  return create_session() || (errno == EEXIST && resume_session());
}

bool ProcessDrain::create_session() {
  auto writer = SessionWriter::create(session_path_);
  if (!writer) return errno == EEXIST ? false : report("cannot be created");
  if (!writer->write_info(reader_->process_info())) {
    report("cannot be written");
    unlink(session_path_.c_str());
    return false;
  }
  writer_ = std::move(writer);
  return true;
}

// The drainer before may have been killed after it wrote a chunk and before it released the space.
bool ProcessDrain::resume_session() {
  try {
    writer_ = SessionWriter::resume(session_path_);
  } catch (const FileError& error) {
    log_problem(error.what());
    retry_at_ns_ = monotonic_ns() + kSecond_ns;
    return false;
  }
  if (!writer_) return report("cannot be gone on with");
  for (uint32_t ring = 0; ring < reader_->ring_count(); ++ring) {
    const uint64_t end = writer_->end_position(ring);
    if (end <= reader_->drained_position(ring)) continue;
    reader_->release(ring, reader_->resume_position(ring, end));
  }
  return true;
}

bool ProcessDrain::finish(bool process_ended) {
  drain(Amount::kEverything);
  // Of a deleted ring file without a session nothing can be saved any more.
  if (!open_session()) return reader_->is_deleted();
  for (uint32_t ring = 0; ring < damaged_.size(); ++ring) {
    if (!damaged_[ring] && reader_->pending_bytes(ring) != 0) return false;
  }
  if (!write_end_point() || !writer_->finish()) return report("cannot be completed");
  if (writer_->is_deleted()) log_problem(session_path_ + kDeleted);
  if (process_ended) unlink(ring_path().c_str());
  return true;
}

// So that even a session whose drainer is killed can tell ticks from time.
bool ProcessDrain::write_end_point() {
  InfoMap info;
  set_end_point(info, clock_point(reader_->clock()));
  info["finished"] = reader_->finished() ? "1" : "0";
  info["lost_events"] = std::to_string(reader_->lost_events());
  const UnwindCheck& check = reader_->unwind_check();
  if (check.compared.load() != 0 || check.by_libgcc.load() != 0) {
    info["unwinds_compared"] = std::to_string(check.compared.load());
    info["unwinds_different"] = std::to_string(check.different.load());
    info["unwinds_by_libgcc"] = std::to_string(check.by_libgcc.load());
  }
  return writer_->write_info(info);
}

// Always false.
bool ProcessDrain::report(const char* what) {
  const std::string why = reason(errno);
  retry_at_ns_ = monotonic_ns() + kSecond_ns / 10;
  if (reader_->is_deleted()) {
    log_problem(session_path_ + kDeleted);
    return false;
  }
  log_problem(session_path_ + ": " + what + ": " + why + "; events stay in " + ring_path() +
              " as long as there is room");
  errno = 0;
  return false;
}

void ProcessDrain::log_problem(const std::string& problem) {
  if (!problem_.empty()) return;
  problem_ = problem;
  log_warning("%s", problem_.c_str());
}

}  // namespace vramscope
