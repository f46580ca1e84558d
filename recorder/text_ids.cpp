#include "recorder/text_ids.h"

#include <atomic>
#include <span>

#include "recorder/checksum.h"

namespace vramscope {
namespace {

// Ids are unique in the process; ids of texts that fork() shares belong to two sessions.
constinit std::atomic<uint32_t> last_id = 0;

}  // namespace

uint32_t TextIds::id_of(std::string_view text, DefinitionSink& sink) {
  if (text.empty()) return 0;
  text = text.substr(0, kMaxTextBytes);
  const auto bytes = std::as_bytes(std::span(text));
  const uint64_t hash = text_hash(bytes);
  Known& known = known_[hash % kKnown];
  if (known.id != 0 && known.hash == hash && known.bytes == text.size()) return known.id;
  const uint32_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!sink.define(RecordKind::kText, id, {bytes})) return 0;
  known = {hash, static_cast<uint32_t>(text.size()), id};
  return id;
}

}  // namespace vramscope
