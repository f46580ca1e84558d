#include "recorder/process_drain.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/clock.h"
#include "recorder/log.h"
#include "recorder/process_info.h"

namespace vramscope {
namespace {

constexpr uint64_t kSecond_ns = 1'000'000'000;
constexpr size_t kChunkBytes = 512 << 10;

std::string session_path_of(const std::string& ring_path) {
  return session_name_of(ring_path) + kSessionFileSuffix;
}

}  // namespace

std::string session_name_of(const std::string& path) {
  for (const std::string_view suffix : {kRingFileSuffix, kSessionFileSuffix}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

ProcessDrain::ProcessDrain(std::string ring_path, std::unique_ptr<RingReader> reader)
    : ring_path_(std::move(ring_path)), reader_(std::move(reader)) {}

uint64_t ProcessDrain::drain(Amount amount) {
  const uint64_t now_ns = monotonic_ns();
  const uint32_t rings = reader_->ring_count();
  const uint64_t written = reader_->written_bytes();
  active_ = written != written_;
  written_ = written;
  drained_at_ns_.resize(std::max<size_t>(drained_at_ns_.size(), rings), now_ns);
  damaged_.resize(drained_at_ns_.size(), false);
  uint64_t drained = 0;
  for (uint32_t ring = 0; ring < rings; ++ring) {
    if (damaged_[ring]) continue;
    const uint64_t pending = reader_->pending_bytes(ring);
    if (pending == 0) {
      drained_at_ns_[ring] = now_ns;
      reader_->free_if_drained(ring);
      continue;
    }
    const bool worthwhile = pending >= reader_->ring_bytes() / 4 || reader_->closed(ring) ||
                            now_ns - drained_at_ns_[ring] >= kSecond_ns;
    if (!worthwhile && amount == Amount::kWorthwhile) continue;
    if (now_ns < retry_at_ns_ && amount == Amount::kWorthwhile) break;
    drained_at_ns_[ring] = now_ns;
    drained += drain_ring(ring);
    reader_->free_if_drained(ring);
  }
  if (drained != 0 && now_ns - end_point_at_ns_ >= kSecond_ns) {
    end_point_at_ns_ = now_ns;
    write_end_point();
  }
  return drained;
}

uint64_t ProcessDrain::drain_ring(uint32_t ring) {
  // What was there at first, in one or two pieces (the second at the ring's start): what arrives
  // meanwhile would only make small chunks.
  const uint64_t pending = reader_->pending_bytes(ring);
  uint64_t drained = 0;
  while (true) {
    reader_->read(ring, reader_->resume_position(ring, {}), kChunkBytes, records_);
    if (!records_.bytes.empty()) {
      if (!open_session()) return drained;
      if (!writer_->write_records(ring, records_.begin_position, records_.bytes, records_.events)) {
        report("cannot be written");
        return drained;
      }
      reader_->release(ring, records_.end_position());
      drained += records_.bytes.size();
    }
    if (!records_.problem.empty()) {
      log_warning("%s: %s; the rest of this thread's events is lost", ring_path_.c_str(),
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
  auto writer = SessionWriter::create(session_path_of(ring_path_));
  if (!writer) return report("cannot be created");
  if (!writer->write_info(reader_->process_info())) {
    report("cannot be written");
    unlink(session_path_of(ring_path_).c_str());
    return false;
  }
  writer_ = std::move(writer);
  return true;
}

bool ProcessDrain::finish(bool process_ended) {
  drain(Amount::kEverything);
  if (!open_session()) return false;
  for (uint32_t ring = 0; ring < damaged_.size(); ++ring) {
    if (!damaged_[ring] && reader_->pending_bytes(ring) != 0) return false;
  }
  if (!write_end_point() || !writer_->finish()) return report("cannot be completed");
  if (process_ended) unlink(ring_path_.c_str());
  return true;
}

// So that even a session whose drainer is killed can tell ticks from time.
bool ProcessDrain::write_end_point() {
  InfoMap info;
  set_end_point(info, clock_point(reader_->clock()));
  info["finished"] = reader_->finished() ? "1" : "0";
  info["lost_events"] = std::to_string(reader_->lost_events());
  return writer_->write_info(info);
}

// Always false.
bool ProcessDrain::report(const char* what) {
  const int error = errno;
  retry_at_ns_ = monotonic_ns() + kSecond_ns / 10;
  if (!warned_) {
    log_warning("%s: %s: %s; events stay in %s", session_path_of(ring_path_).c_str(), what,
                std::strerror(error), ring_path_.c_str());
  }
  warned_ = true;
  return false;
}

}  // namespace vramscope
