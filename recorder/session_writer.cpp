#include "recorder/session_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/checksum.h"
#include "recorder/chunk_reader.h"
#include "recorder/file_error.h"
#include "recorder/record_walk.h"

namespace vramscope {
namespace {

// The fastest: a drainer that keeps up matters more than the last tenth of the size.
constexpr int kCompressionLevel = 1;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

bool write_fully(int fd, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return true;
}

}  // namespace

std::unique_ptr<SessionWriter> SessionWriter::create(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return nullptr;
  std::unique_ptr<SessionWriter> writer(new SessionWriter(path, fd));
  SessionFileHeader header{};
  std::memcpy(header.magic, kSessionFileMagic, sizeof(header.magic));
  header.version = kSessionFileVersion;
  header.header_bytes = sizeof(header);
  if (!writer->write_at_end(bytes_of(header), {})) {
    const int saved_errno = errno;
    unlink(path.c_str());
    errno = saved_errno;
    return nullptr;
  }
  return writer;
}

std::unique_ptr<SessionWriter> SessionWriter::resume(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  std::unique_ptr<SessionWriter> writer(new SessionWriter(path, fd));
  writer->take_over_chunks();
  if (ftruncate(fd, static_cast<off_t>(writer->end_)) != 0) return nullptr;
  return writer;
}

void SessionWriter::take_over_chunks() {
  ChunkReader chunks(path_);
  ChunkReader::Step step;
  while ((step = chunks.next()) == ChunkReader::Step::kChunk) {
    const ChunkReader::Place& place = chunks.place();
    uint32_t events = 0;
    if (chunks.load(place)) {
      if (holds_records(place.header.type)) whole_records_bytes(chunks.payload(), events);
      note_chunk(place.offset, place.header, events);
    } else {
      index_.push_back({place.offset, 0, place.header.type, {}});  // damaged: kept as it is
    }
  }
  const bool sound = step == ChunkReader::Step::kEnd || chunks.interrupted();
  if (!sound) throw FileError(chunks.problem());
  end_ = chunks.chunks_end();
}

SessionWriter::SessionWriter(std::string path, int fd)
    : path_(std::move(path)), fd_(fd), compressor_(ZSTD_createCCtx()) {}

SessionWriter::~SessionWriter() {
  ZSTD_freeCCtx(compressor_);
  close(fd_);
}

bool SessionWriter::write_info(const InfoMap& info) {
  const std::string text = format_info(info);
  ChunkHeader header{};
  header.type = ChunkType::kInfo;
  return write_chunk(header, std::as_bytes(std::span(text)), 0);
}

bool SessionWriter::write_records(uint32_t ring, uint64_t begin_position,
                                  std::span<const std::byte> records, uint32_t events,
                                  ChunkType type) {
  ChunkHeader header{};
  header.type = type;
  header.ring = static_cast<uint16_t>(ring);
  header.begin_position = begin_position;
  return write_chunk(header, records, events);
}

bool SessionWriter::is_deleted() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 && status.st_nlink == 0;
}

uint64_t SessionWriter::end_position(uint32_t ring) const {
  const auto found = end_positions_.find(ring);
  return found == end_positions_.end() ? 0 : found->second;
}

bool SessionWriter::finish() {
  const uint64_t index_offset = end_;
  const std::vector<ChunkIndexEntry> index = index_;
  ChunkHeader header{};
  header.type = ChunkType::kIndex;
  if (!write_chunk(header, std::as_bytes(std::span(index)), 0)) return false;
  SessionFileTrailer trailer{};
  trailer.index_offset = index_offset;
  trailer.chunks = index.size();
  std::memcpy(trailer.magic, kSessionTrailerMagic, sizeof(trailer.magic));
  const bool written = write_at_end(bytes_of(trailer), {});
  index_ = index;
  end_ = index_offset;
  has_end_ = true;
  return written;
}

bool SessionWriter::write_chunk(ChunkHeader header, std::span<const std::byte> raw,
                                uint32_t events) {
  std::span<const std::byte> stored = raw;
  header.codec = ChunkCodec::kStored;
  compressed_.resize(ZSTD_compressBound(raw.size()));
  const size_t compressed_bytes =
      ZSTD_compressCCtx(compressor_, compressed_.data(), compressed_.size(), raw.data(), raw.size(),
                        kCompressionLevel);
  if (ZSTD_isError(compressed_bytes) == 0 && compressed_bytes < raw.size()) {
    stored = std::span(compressed_).first(compressed_bytes);
    header.codec = ChunkCodec::kZstd;
  }
  header.magic = kChunkMagic;
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.stored_bytes = static_cast<uint32_t>(stored.size());
  header.checksum = chunk_checksum(header, stored);
  const uint64_t offset = end_;
  // Killed while it writes over an index, it would leave what is no chunk and no index.
  if (has_end_ && ftruncate(fd_, static_cast<off_t>(end_)) != 0) return false;
  has_end_ = false;
  if (!write_at_end(bytes_of(header), stored)) return false;
  note_chunk(offset, header, events);
  return true;
}

void SessionWriter::note_chunk(uint64_t offset, const ChunkHeader& header, uint32_t events) {
  index_.push_back({offset, events, header.type, {}});
  events_ += events;
  if (!holds_records(header.type)) return;
  uint64_t& end = end_positions_[header.ring];
  end = std::max(end, header.begin_position + header.raw_bytes);
}

bool SessionWriter::write_at_end(std::span<const std::byte> header,
                                 std::span<const std::byte> payload) {
  if (write_fully(fd_, header, end_) && write_fully(fd_, payload, end_ + header.size())) {
    end_ += header.size() + payload.size();
    return true;
  }
  const int saved_errno = errno;
  [[maybe_unused]] const int result = ftruncate(fd_, static_cast<off_t>(end_));
  errno = saved_errno;
  return false;
}

}  // namespace vramscope
