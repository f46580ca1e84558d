// Steps through bytes that should be records, and trusts none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "recorder/record.h"

namespace vramscope {

// Length of the record at the start of `bytes`; 0 where no whole record stands there. Kinds that
// this version does not know have a length too: definitions say theirs, events are all alike.
inline size_t record_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(DefinitionHeader)) return 0;
  DefinitionHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t length = is_event(header.kind) ? sizeof(Event) : size_t{header.words} * 8;
  return length <= bytes.size() ? length : 0;
}

// Bytes of whole records at the start of `bytes`; `events` grows by the events among them.
inline size_t whole_records_bytes(std::span<const std::byte> bytes, uint32_t& events) {
  size_t walked = 0;
  while (const size_t length = record_bytes(bytes.subspan(walked))) {
    events += is_event(static_cast<RecordKind>(bytes[walked])) ? 1 : 0;
    walked += length;
  }
  return walked;
}

}  // namespace vramscope
