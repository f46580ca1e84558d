// Writes a session file. Twin of session_reader.
//
// One thread at a time. May block on the disk; allocates. A call that fails (full disk) leaves the
// file as it was before it, so that it can be tried again: what was not written is still in the
// ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recorder/info_text.h"
#include "recorder/session_file.h"

struct ZSTD_CCtx_s;

namespace vramscope {

class SessionWriter {
 public:
  // A file that must not exist yet. nullptr: failed, errno says why.
  static std::unique_ptr<SessionWriter> create(const std::string& path);
  ~SessionWriter();
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  // False: failed, errno says why.
  bool write_info(const InfoMap& info);

  // Whole records of one ring, in order; at most kMaxChunkRawBytes. `events`: how many of them are
  // events.
  bool write_records(uint32_t ring, uint64_t begin_position, std::span<const std::byte> records,
                     uint32_t events);

  // Index and trailer: the file is complete. Chunks written later replace them; then finish again.
  bool finish();

  uint64_t events() const { return events_; }

 private:
  SessionWriter(std::string path, int fd);
  bool write_chunk(ChunkHeader header, std::span<const std::byte> raw, uint32_t events);
  bool write_at_end(std::span<const std::byte> header, std::span<const std::byte> payload);

  const std::string path_;
  const int fd_;
  uint64_t end_ = 0;  // behind the last chunk
  uint64_t events_ = 0;
  std::vector<ChunkIndexEntry> index_;
  std::vector<std::byte> compressed_;
  ZSTD_CCtx_s* const compressor_;
};

}  // namespace vramscope
