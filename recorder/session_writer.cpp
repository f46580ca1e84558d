#include "recorder/session_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

#include "recorder/checksum.h"

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
                                  std::span<const std::byte> records, uint32_t events) {
  ChunkHeader header{};
  header.type = ChunkType::kRecords;
  header.ring = static_cast<uint16_t>(ring);
  header.begin_position = begin_position;
  return write_chunk(header, records, events);
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
  if (!write_at_end(bytes_of(header), stored)) return false;
  index_.push_back({offset, events, header.type, {}});
  events_ += events;
  return true;
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
