// The session file, NAME.vrams: what was drained from one process's rings. Written by
// session_writer, read by session_reader.
//
//   SessionFileHeader                          16 bytes
//   chunk*                                     ChunkHeader and stored_bytes of payload each
//   chunk kIndex                               one ChunkIndexEntry per chunk before it
//   SessionFileTrailer                         24 bytes, last in the file
//
// A file without a trailer comes from a session that did not end: it is read chunk by chunk up to
// the first damaged one. Chunks are independent: kInfo payloads are UTF-8 `key=value` lines (later
// ones win; \n and \\ in values are escaped as "\n", "\\"), kRecords payloads are the records of
// one ring in order. kWindow payloads are events of a flight recorder's window (ring_file.h); what
// lies between the positions of two of them was written over.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope {

constexpr char kSessionFileMagic[8] = {'V', 'R', 'A', 'M', 'S', 'C', 'O', 'P'};
constexpr char kSessionTrailerMagic[8] = {'V', 'S', 'E', 'N', 'D', '0', '0', '1'};
constexpr char kSessionFileSuffix[] = ".vrams";
constexpr uint32_t kSessionFileVersion = 1;
constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
// Of kInfo, kRecords and kWindow. Readers hold one chunk of each ring at a time, and believe no
// file that asks for more. An index is as long as the file has chunks.
constexpr size_t kMaxChunkRawBytes = 1 << 20;

struct SessionFileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // where the first chunk starts
};
static_assert(sizeof(SessionFileHeader) == 16);

enum class ChunkType : uint8_t { kInfo = 1, kRecords = 2, kIndex = 3, kWindow = 4 };
constexpr bool holds_records(ChunkType type) {
  return type == ChunkType::kRecords || type == ChunkType::kWindow;
}
enum class ChunkCodec : uint8_t { kStored = 0, kZstd = 1 };

struct ChunkHeader {
  uint32_t magic;
  ChunkType type;
  ChunkCodec codec;
  uint16_t ring;            // kRecords, kWindow: which ring, below kMaxRings (ring_file.h)
  uint32_t raw_bytes;       // after decoding
  uint32_t stored_bytes;    // in the file, after this header
  uint64_t begin_position;  // kRecords, kWindow: position in the ring of the first record; a chunk
                            // that repeats positions is skipped
  uint64_t checksum;        // of this header and the stored payload: checksum.h
};
static_assert(sizeof(ChunkHeader) == 32);

struct ChunkIndexEntry {
  uint64_t file_offset;
  uint32_t events;
  ChunkType type;
  uint8_t reserved[3];
};
static_assert(sizeof(ChunkIndexEntry) == 16);

struct SessionFileTrailer {
  uint64_t index_offset;
  uint64_t chunks;
  char magic[8];
};
static_assert(sizeof(SessionFileTrailer) == 24);

}  // namespace vramscope
