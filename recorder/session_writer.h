// Writes a session file. Twin of session_reader.
//
// One thread at a time. May block on the disk; allocates. A call that fails (full disk) leaves the
// file as it was before it, so that it can be tried again: what was not written is still in the
// ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

  // Goes on with a file whose writer has died: behind its last whole chunk. Reads it all. nullptr:
  // failed, errno says why. Throws FileError if it is no session file, or damaged so that what lies
  // behind could not be read: then it is left as it is.
  static std::unique_ptr<SessionWriter> resume(const std::string& path);
  ~SessionWriter();
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;

  // False: failed, errno says why.
  bool write_info(const InfoMap& info);

  // Whole records of one ring, in order; at most kMaxChunkRawBytes. `events`: how many of them are
  // events. `type`: kRecords, or kWindow.
  bool write_records(uint32_t ring, uint64_t begin_position, std::span<const std::byte> records,
                     uint32_t events, ChunkType type = ChunkType::kRecords);

  // Index and trailer: the file is complete. Chunks written later replace them; then finish again.
  bool finish();

  uint64_t events() const { return events_; }

  // Nobody will find what is written.
  bool is_deleted() const;

  // Behind the last record of `ring` in the file; 0: there is none.
  uint64_t end_position(uint32_t ring) const;

 private:
  SessionWriter(std::string path, int fd);
  void take_over_chunks();
  void note_chunk(uint64_t offset, const ChunkHeader& header, uint32_t events);
  bool write_chunk(ChunkHeader header, std::span<const std::byte> raw, uint32_t events);
  bool write_at_end(std::span<const std::byte> header, std::span<const std::byte> payload);

  const std::string path_;
  const int fd_;
  uint64_t end_ = 0;      // behind the last chunk
  bool has_end_ = false;  // index and trailer lie behind end_
  uint64_t events_ = 0;
  std::vector<ChunkIndexEntry> index_;
  std::map<uint32_t, uint64_t> end_positions_;  // by ring
  std::vector<std::byte> compressed_;
  ZSTD_CCtx_s* const compressor_;
};

}  // namespace vramscope
