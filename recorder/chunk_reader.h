// Steps through the chunks of a session file, and decodes those that are asked for. Used by
// session_stream and by session_writer, which goes on with a file.
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

  // Where a chunk lies, and what its header says: not to be trusted before load().
  struct Place {
    uint64_t offset = 0;
    ChunkHeader header{};
  };

  enum class Step {
    kChunk,    // place() is the next chunk
    kDamaged,  // a chunk that was to be the index and is none: skipped; problem() says why
    kEnd,      // the index and the trailer: the file is complete
    kCut,      // the file ends, or is no file of chunks from here on: problem() says why
  };
  // The next header. Reads no payload but the index's.
  Step next();
  const Place& place() const { return place_; }

  // Behind the last chunk that next() returned.
  uint64_t chunks_end() const { return chunks_end_; }

  // Decodes a chunk into payload(). False: it is not what was written; problem() says why.
  bool load(const Place& place);
  const std::vector<std::byte>& payload() const { return payload_; }

  const std::string& problem() const { return problem_; }
  // kCut because the file ends, in a chunk or behind one: whoever wrote it was interrupted.
  bool interrupted() const { return interrupted_; }

 private:
  void open_file();
  void close_file();
  uint64_t most_raw_bytes(ChunkType type) const;
  Step interrupt(const char* what);
  Step cut(const char* what);
  bool damaged(const Place& place, const char* what);
  bool decompress(const ChunkHeader& header);
  Step check_trailer();
  bool read_at(uint64_t offset, void* to, size_t bytes) const;

  const std::string path_;
  int fd_ = -1;
  uint64_t file_bytes_ = 0;
  uint64_t next_offset_ = 0;
  uint64_t chunks_end_ = 0;
  uint64_t chunks_ = 0;  // seen so far, damaged ones included
  bool interrupted_ = false;
  Place place_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> payload_;
  std::string problem_;
  ZSTD_DCtx_s* const decompressor_;
};

}  // namespace vramscope
