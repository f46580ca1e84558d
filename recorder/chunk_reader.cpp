#include "recorder/chunk_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "recorder/checksum.h"
#include "recorder/file_error.h"
#include "recorder/ring_file.h"

namespace vramscope {

ChunkReader::ChunkReader(const std::string& path) : path_(path), decompressor_(ZSTD_createDCtx()) {
  try {
    open_file();
  } catch (...) {
    close_file();
    throw;
  }
}

ChunkReader::~ChunkReader() { close_file(); }

void ChunkReader::open_file() {
  // O_NONBLOCK: a FIFO is refused below, not waited for.
  fd_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0) {
    throw FileError(path_, {}, std::string("cannot be opened: ") + std::strerror(errno), "");
  }
  struct stat status {};
  if (fstat(fd_, &status) != 0) throw FileError(path_, {}, std::strerror(errno), "");
  if (!S_ISREG(status.st_mode)) throw FileError(path_, {}, "is not a file", "");
  file_bytes_ = static_cast<uint64_t>(status.st_size);
  if (file_bytes_ == 0) {
    throw FileError(path_, {}, "is empty", "the process was ended before it recorded anything");
  }
  SessionFileHeader header{};
  const bool whole = read_at(0, &header, sizeof(header));
  if (!whole) read_at(0, &header, file_bytes_);
  const size_t magic_bytes = std::min<uint64_t>(file_bytes_, sizeof(header.magic));
  if (std::memcmp(header.magic, kSessionFileMagic, magic_bytes) != 0) {
    throw FileError(path_, 0, "is not a session file of vramscope", "");
  }
  if (!whole) throw FileError(path_, file_bytes_, "ends within its header", "the file was cut");
  if (header.version != kSessionFileVersion) {
    throw FileError(path_, offsetof(SessionFileHeader, version),
                    "is a session file of version " + std::to_string(header.version),
                    "this vramscope reads version " + std::to_string(kSessionFileVersion));
  }
  if (header.header_bytes < sizeof(header) || header.header_bytes > file_bytes_) {
    throw FileError(path_, offsetof(SessionFileHeader, header_bytes), "has a damaged header", "");
  }
  next_offset_ = header.header_bytes;
  chunks_end_ = header.header_bytes;
}

void ChunkReader::close_file() {
  ZSTD_freeDCtx(decompressor_);
  if (fd_ >= 0) close(fd_);
}

uint64_t ChunkReader::most_raw_bytes(ChunkType type) const {
  const uint64_t index_bytes = type == ChunkType::kIndex ? chunks_ * sizeof(ChunkIndexEntry) : 0;
  return std::max<uint64_t>(index_bytes, kMaxChunkRawBytes);
}

ChunkReader::Step ChunkReader::next() {
  place_.offset = next_offset_;
  ChunkHeader& header = place_.header;
  const uint64_t left = file_bytes_ - next_offset_;
  if (left == 0) return interrupt("ends without its index: recording was interrupted");
  if (left < sizeof(header) || !read_at(next_offset_, &header, sizeof(header))) {
    return interrupt("ends within a chunk's header: the file was cut");
  }
  if (header.magic != kChunkMagic || header.raw_bytes > most_raw_bytes(header.type) ||
      header.ring >= kMaxRings) {
    return cut("is damaged: no chunk begins here");
  }
  if (header.stored_bytes > left - sizeof(header)) {
    return interrupt("ends within a chunk: the file was cut");
  }
  next_offset_ += sizeof(header) + header.stored_bytes;
  if (header.type == ChunkType::kIndex) return load(place_) ? check_trailer() : Step::kDamaged;
  ++chunks_;
  chunks_end_ = next_offset_;
  return Step::kChunk;
}

bool ChunkReader::load(const Place& place) {
  const ChunkHeader& header = place.header;
  stored_.resize(header.stored_bytes);
  if (!read_at(place.offset + sizeof(header), stored_.data(), stored_.size())) {
    return damaged(place, "cannot be read");
  }
  if (chunk_checksum(header, stored_) != header.checksum) {
    return damaged(place, "damaged chunk (checksum)");
  }
  return decompress(header) || damaged(place, "damaged chunk (encoding)");
}

bool ChunkReader::decompress(const ChunkHeader& header) {
  if (header.codec == ChunkCodec::kStored) {
    payload_ = stored_;
    return payload_.size() == header.raw_bytes;
  }
  if (header.codec != ChunkCodec::kZstd) return false;
  // What the chunk's header claims costs memory only if the compressed frame claims the same.
  if (ZSTD_getFrameContentSize(stored_.data(), stored_.size()) != header.raw_bytes) return false;
  payload_.resize(header.raw_bytes);
  const size_t bytes = ZSTD_decompressDCtx(decompressor_, payload_.data(), payload_.size(),
                                           stored_.data(), stored_.size());
  return ZSTD_isError(bytes) == 0 && bytes == payload_.size();
}

ChunkReader::Step ChunkReader::check_trailer() {
  SessionFileTrailer trailer{};
  const uint64_t index_offset = place_.offset;
  place_.offset = next_offset_;
  if (file_bytes_ - next_offset_ < sizeof(trailer) ||
      !read_at(next_offset_, &trailer, sizeof(trailer))) {
    return interrupt("ends within its trailer: the file was cut");
  }
  if (std::memcmp(trailer.magic, kSessionTrailerMagic, sizeof(trailer.magic)) != 0 ||
      trailer.index_offset != index_offset || trailer.chunks != chunks_ ||
      payload_.size() != chunks_ * sizeof(ChunkIndexEntry)) {
    return cut("has a damaged trailer");
  }
  if (file_bytes_ - next_offset_ != sizeof(trailer)) return cut("goes on behind its trailer");
  return Step::kEnd;
}

ChunkReader::Step ChunkReader::interrupt(const char* what) {
  interrupted_ = true;
  return cut(what);
}

ChunkReader::Step ChunkReader::cut(const char* what) {
  problem_ = FileError(path_, place_.offset, what, "read up to there").what();
  return Step::kCut;
}

// Always false.
bool ChunkReader::damaged(const Place& place, const char* what) {
  problem_ = FileError(path_, place.offset, what, "its events are missing").what();
  return false;
}

bool ChunkReader::read_at(uint64_t offset, void* to, size_t bytes) const {
  auto* place = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ssize_t n = pread(fd_, place, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    place += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace vramscope
