#include "recorder/ring_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "recorder/file_error.h"
#include "recorder/process_life.h"
#include "recorder/record_walk.h"

namespace vramscope {
namespace {

std::string error_text(int error) { return std::strerror(error); }

// Bytes that could be read: fewer than asked for at the end of the file or after an error.
size_t read_at(int fd, uint64_t offset, std::byte* to, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = pread(fd, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

std::unique_ptr<RingReader> RingReader::open(const std::string& path, Access access) {
  const int mode = access == Access::kDrain ? O_RDWR : O_RDONLY;
  // O_NONBLOCK: a FIFO is refused below, not waited for.
  const int fd = ::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) throw FileError(path, {}, "cannot be opened: " + error_text(errno), "");
  std::unique_ptr<RingReader> reader(new RingReader(path, fd, access));
  struct stat status {};
  if (fstat(fd, &status) != 0) throw FileError(path, {}, error_text(errno), "");
  if (!S_ISREG(status.st_mode)) throw FileError(path, {}, "is not a file", "");
  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  if (file_bytes < kFirstRingOffset && access == Access::kDrain) return nullptr;
  if (access == Access::kDrain) {
    reader->map_controls();
  } else {
    reader->copy_controls();
  }
  if (reader->header_->magic.load(std::memory_order_acquire) == 0) return nullptr;
  reader->check_header();
  reader->ring_bytes_ = reader->header_->ring_bytes;
  return reader;
}

RingReader::RingReader(const std::string& path, int fd, Access access)
    : path_(path), fd_(fd), access_(access) {}

RingReader::~RingReader() {
  if (controls_bytes_ != nullptr && access_ == Access::kDrain) {
    munmap(controls_bytes_, kFirstRingOffset);
  } else {
    ::operator delete[](controls_bytes_, std::align_val_t{alignof(RingControl)});
  }
  close(fd_);
}

void RingReader::map_controls() {
  void* mapping = mmap(nullptr, kFirstRingOffset, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapping == MAP_FAILED) {
    throw FileError(path_, {}, "cannot be mapped: " + error_text(errno), "");
  }
  controls_bytes_ = static_cast<std::byte*>(mapping);
  header_ = reinterpret_cast<RingFileHeader*>(controls_bytes_);
  controls_ = reinterpret_cast<RingControl*>(controls_bytes_ + kRingControlOffset);
}

void RingReader::copy_controls() {
  if (controls_bytes_ == nullptr) {
    controls_bytes_ = static_cast<std::byte*>(
        ::operator new[](kFirstRingOffset, std::align_val_t{alignof(RingControl)}));
    header_ = reinterpret_cast<RingFileHeader*>(controls_bytes_);
    controls_ = reinterpret_cast<RingControl*>(controls_bytes_ + kRingControlOffset);
  }
  std::memset(controls_bytes_, 0, kFirstRingOffset);
  const size_t bytes = read_at(fd_, 0, controls_bytes_, kFirstRingOffset);
  if (bytes < kFirstRingOffset) {
    throw FileError(path_, bytes, "ends within the header of a ring file",
                    "the file has " + std::to_string(bytes) + " bytes");
  }
}

void RingReader::check_header() const {
  if (header_->magic.load(std::memory_order_relaxed) != kRingFileMagic) {
    throw FileError(path_, 0, "is not a ring file of vramscope", "");
  }
  if (header_->version != kRingFileVersion) {
    throw FileError(path_, offsetof(RingFileHeader, version),
                    "is a ring file of version " + std::to_string(header_->version),
                    "this vramscope reads version " + std::to_string(kRingFileVersion));
  }
  const uint64_t bytes = header_->ring_bytes;
  if (!std::has_single_bit(bytes) || bytes < kMinRingBytes || bytes > kMaxRingBytes) {
    throw FileError(path_, offsetof(RingFileHeader, ring_bytes),
                    "has rings of " + std::to_string(bytes) + " bytes", "the file is damaged");
  }
}

ClockKind RingReader::clock() const {
  return header_->clock == ClockKind::kInvariantTsc ? ClockKind::kInvariantTsc
                                                    : ClockKind::kMonotonicNs;
}

InfoMap RingReader::process_info() const {
  InfoMap info;
  const char* text = reinterpret_cast<const char*>(controls_bytes_ + kProcessInfoOffset);
  parse_info({text, kProcessInfoBytes}, info);
  return info;
}

uint32_t RingReader::ring_count() const { return std::min(header_->ring_count.load(), kMaxRings); }

uint64_t RingReader::lost_events() const {
  uint64_t lost = header_->lost_events.load();
  for (uint32_t i = 0; i < ring_count(); ++i) lost += controls_[i].dropped_events.load();
  return lost;
}

bool RingReader::claim() {
  constexpr uint32_t kLocked = 1;
  constexpr uint32_t kWithoutLock = 2;
  if (lock_byte(fd_, kDrainerLockByte)) {
    header_->was_claimed.store(kLocked);
    return true;
  }
  if (errno == EAGAIN || errno == EACCES) return false;
  if (header_->was_claimed.exchange(kWithoutLock) == 0) return true;
  const auto before = static_cast<pid_t>(header_->drainer_pid);
  return before == getpid() || (before != 0 && kill(before, 0) != 0 && errno == ESRCH);
}

// Of what was not drained.
uint64_t RingReader::oldest_position(uint32_t ring) const {
  const RingControl& control = controls_[ring];
  const uint64_t drained = control.read_position.load(std::memory_order_relaxed);
  if (!is_window(ring)) return drained;
  const uint64_t written = control.write_position.load(std::memory_order_acquire);
  return std::max(drained,
                  written + sizeof(Event) - std::min(written + sizeof(Event), ring_bytes_));
}

uint64_t RingReader::pending_bytes(uint32_t ring) const {
  const uint64_t oldest = oldest_position(ring);
  return controls_[ring].write_position.load(std::memory_order_acquire) - oldest;
}

uint64_t RingReader::written_bytes() const {
  uint64_t written = 0;
  for (uint32_t i = 0; i < ring_count(); ++i) {
    written += controls_[i].write_position.load(std::memory_order_relaxed);
  }
  return written;
}

uint64_t RingReader::resume_position(uint32_t ring, std::optional<uint64_t> wanted) const {
  const uint64_t oldest = oldest_position(ring);
  const uint64_t written = controls_[ring].write_position.load(std::memory_order_acquire);
  return wanted && *wanted > oldest && *wanted <= written ? *wanted : oldest;
}

bool RingReader::positions_are_possible(uint32_t ring, uint64_t begin, uint64_t end) const {
  const uint64_t ring_offset = controls_[ring].file_offset.load(std::memory_order_acquire);
  return ring_offset == kFirstRingOffset + ring * ring_bytes_ && end - begin <= ring_bytes_ &&
         begin % 8 == 0 && end % 8 == 0;
}

// Appends what lies from `begin` to `end`, less where the file ends before.
void RingReader::copy_records(uint32_t ring, uint64_t begin, uint64_t end,
                              RingRecords& records) const {
  while (begin != end) {
    const uint64_t in_ring = begin & (ring_bytes_ - 1);
    const uint64_t piece = std::min(end - begin, ring_bytes_ - in_ring);
    const size_t before = records.bytes.size();
    records.bytes.resize(before + piece);
    const uint64_t offset = kFirstRingOffset + ring * ring_bytes_ + in_ring;
    const size_t copied = read_at(fd_, offset, records.bytes.data() + before, piece);
    records.bytes.resize(before + copied);
    begin += copied;
    if (copied < piece) return;
  }
}

void RingReader::keep_whole_records(uint32_t ring, RingRecords& records) const {
  const size_t wanted = records.bytes.size();
  records.events = 0;
  records.bytes.resize(whole_records_bytes(records.bytes, records.events));
  if (records.bytes.size() == wanted) return;
  records.problem = "ring " + std::to_string(ring) + ": damaged record (position " +
                    std::to_string(records.end_position()) + ")";
}

void RingReader::read(uint32_t ring, uint64_t from, size_t max_bytes, RingRecords& records) const {
  const RingControl& control = controls_[ring];
  const uint64_t end = control.write_position.load(std::memory_order_acquire);
  records.window = is_window(ring);
  records.begin_position = from;
  records.events = 0;
  records.bytes.clear();
  records.problem.clear();
  if (from == end || control.file_offset.load(std::memory_order_acquire) == 0) return;
  if (!positions_are_possible(ring, from, end)) {
    records.problem = "ring " + std::to_string(ring) + ": impossible positions";
    return;
  }
  const uint64_t to_stop = std::min(end - from, ring_bytes_ - (from & (ring_bytes_ - 1)));
  const uint64_t wanted = std::min<uint64_t>(to_stop, std::max(max_bytes, kMaxDefinitionBytes));
  copy_records(ring, from, from + wanted, records);
  const bool file_ended = records.bytes.size() < wanted;
  if (records.window) leave_out_before(oldest_position(ring), records);
  keep_whole_records(ring, records);
  // A record may go on behind `max_bytes`.
  if (wanted < to_stop && !records.bytes.empty()) records.problem.clear();
  if (file_ended) records.problem = "ring " + std::to_string(ring) + ": the file ends";
}

void RingReader::leave_out_before(uint64_t position, RingRecords& records) {
  if (position <= records.begin_position) return;
  const uint64_t bytes =
      std::min<uint64_t>(position - records.begin_position, records.bytes.size());
  records.bytes.erase(records.bytes.begin(), records.bytes.begin() + static_cast<ptrdiff_t>(bytes));
  records.begin_position += bytes;
}

std::vector<RingRecords> RingReader::look() {
  std::vector<RingRecords> rings(ring_count());
  std::vector<uint64_t> missing(rings.size());  // bytes that the file is too short for
  for (uint32_t ring = 0; ring < rings.size(); ++ring) {
    RingRecords& records = rings[ring];
    const uint64_t end = controls_[ring].write_position.load(std::memory_order_acquire);
    records.window = is_window(ring);
    records.begin_position = oldest_position(ring);
    if (records.begin_position == end || controls_[ring].file_offset.load() == 0) continue;
    if (positions_are_possible(ring, records.begin_position, end)) {
      copy_records(ring, records.begin_position, end, records);
      missing[ring] = end - records.end_position();
    } else {
      records.problem = "ring " + std::to_string(ring) + ": impossible positions";
    }
  }
  // What was drained meanwhile may have been written over while it was copied.
  copy_controls();
  for (uint32_t ring = 0; ring < rings.size(); ++ring) {
    RingRecords& records = rings[ring];
    leave_out_before(oldest_position(ring), records);
    if (!records.problem.empty()) continue;
    keep_whole_records(ring, records);
    if (missing[ring] != 0) records.problem = "ring " + std::to_string(ring) + ": the file ends";
  }
  return rings;
}

void RingReader::release(uint32_t ring, uint64_t position) {
  controls_[ring].read_position.store(position, std::memory_order_release);
}

void RingReader::free_if_drained(uint32_t ring) {
  RingControl& control = controls_[ring];
  if (control.state.load(std::memory_order_acquire) != RingState::kClosed) return;
  if (control.write_position.load() != control.read_position.load()) return;
  control.state.store(RingState::kFree, std::memory_order_release);
}

bool RingReader::is_deleted() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 && status.st_nlink == 0;
}

bool RingReader::process_lives() const {
  return byte_is_locked(fd_, kProcessLockByte) || process_maps_file(header_->pid, path_);
}

}  // namespace vramscope
