// Steps through the chunks of a session file. Used by session_reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/session_file.h"

struct ZSTD_DCtx_s;

namespace vramscope {

class ChunkReader {
 public:
  // Checks the file's header. Throws FileError.
  explicit ChunkReader(const std::string& path);
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  enum class Step {
    kChunk,    // header() and payload() hold the next chunk
    kDamaged,  // a chunk whose payload is not what was written: skipped; problem() says why
    kEnd,      // the index and the trailer: the file is complete
    kCut,      // the file ends, or is no file of chunks from here on: problem() says why
  };
  Step next();

  const ChunkHeader& header() const { return header_; }
  const std::vector<std::byte>& payload() const { return payload_; }
  const std::string& problem() const { return problem_; }
  uint64_t chunks() const { return chunks_; }

 private:
  void open_file();
  void close_file();
  Step cut(const char* what);
  Step damaged(const char* what);
  bool decompress();
  Step check_trailer(uint64_t index_offset);
  bool read_at(uint64_t offset, void* to, size_t bytes) const;

  const std::string path_;
  int fd_ = -1;
  uint64_t file_bytes_ = 0;
  uint64_t chunk_offset_ = 0;  // of the chunk at hand
  uint64_t next_offset_ = 0;
  uint64_t chunks_ = 0;  // seen so far, damaged ones included
  ChunkHeader header_{};
  std::vector<std::byte> stored_;
  std::vector<std::byte> payload_;
  std::string problem_;
  ZSTD_DCtx_s* const decompressor_;
};

}  // namespace vramscope
