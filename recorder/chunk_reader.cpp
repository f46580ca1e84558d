#include "recorder/chunk_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

#include "recorder/checksum.h"
#include "recorder/file_error.h"

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
}

void ChunkReader::close_file() {
  ZSTD_freeDCtx(decompressor_);
  if (fd_ >= 0) close(fd_);
}

ChunkReader::Step ChunkReader::next() {
  chunk_offset_ = next_offset_;
  const uint64_t left = file_bytes_ - chunk_offset_;
  if (left == 0) return cut("ends without its index: recording was interrupted");
  if (left < sizeof(header_) || !read_at(chunk_offset_, &header_, sizeof(header_))) {
    return cut("ends within a chunk's header: the file was cut");
  }
  if (header_.magic != kChunkMagic || header_.raw_bytes > kMaxChunkRawBytes) {
    return cut("is damaged: no chunk begins here");
  }
  if (header_.stored_bytes > left - sizeof(header_)) {
    return cut("ends within a chunk: the file was cut");
  }
  next_offset_ = chunk_offset_ + sizeof(header_) + header_.stored_bytes;
  stored_.resize(header_.stored_bytes);
  if (!read_at(chunk_offset_ + sizeof(header_), stored_.data(), stored_.size())) {
    return cut("cannot be read");
  }
  const bool index = header_.type == ChunkType::kIndex;
  if (!index) ++chunks_;
  if (chunk_checksum(header_, stored_) != header_.checksum)
    return damaged("damaged chunk (checksum)");
  if (!decompress()) return damaged("damaged chunk (encoding)");
  return index ? check_trailer(chunk_offset_) : Step::kChunk;
}

bool ChunkReader::decompress() {
  if (header_.codec == ChunkCodec::kStored) {
    payload_ = stored_;
    return payload_.size() == header_.raw_bytes;
  }
  if (header_.codec != ChunkCodec::kZstd) return false;
  // What the chunk's header claims costs memory only if the compressed frame claims the same.
  if (ZSTD_getFrameContentSize(stored_.data(), stored_.size()) != header_.raw_bytes) return false;
  payload_.resize(header_.raw_bytes);
  const size_t bytes = ZSTD_decompressDCtx(decompressor_, payload_.data(), payload_.size(),
                                           stored_.data(), stored_.size());
  return ZSTD_isError(bytes) == 0 && bytes == payload_.size();
}

ChunkReader::Step ChunkReader::check_trailer(uint64_t index_offset) {
  SessionFileTrailer trailer{};
  chunk_offset_ = next_offset_;
  if (file_bytes_ - next_offset_ < sizeof(trailer) ||
      !read_at(next_offset_, &trailer, sizeof(trailer))) {
    return cut("ends within its trailer: the file was cut");
  }
  if (std::memcmp(trailer.magic, kSessionTrailerMagic, sizeof(trailer.magic)) != 0 ||
      trailer.index_offset != index_offset || trailer.chunks != chunks_ ||
      payload_.size() != chunks_ * sizeof(ChunkIndexEntry)) {
    return cut("has a damaged trailer");
  }
  if (file_bytes_ - next_offset_ != sizeof(trailer)) return cut("goes on behind its trailer");
  return Step::kEnd;
}

ChunkReader::Step ChunkReader::cut(const char* what) {
  problem_ = FileError(path_, chunk_offset_, what, "read up to there").what();
  return Step::kCut;
}

ChunkReader::Step ChunkReader::damaged(const char* what) {
  problem_ = FileError(path_, chunk_offset_, what, "its events are missing").what();
  return Step::kDamaged;
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
