#include "preload/frameworks/nvtx_text.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace vramscope {

struct InternedText {
  const InternedText* next;
  size_t bytes;
  char text[];  // NOLINT(modernize-avoid-c-arrays)
};

namespace {

// Few: programs register the names that they use in a loop once.
constexpr size_t kBuckets = 256;
constinit std::atomic<const InternedText*> buckets[kBuckets];

size_t bucket_of(std::string_view text) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash % kBuckets;
}

const InternedText* find(const InternedText* first, std::string_view text) {
  while (first != nullptr && text_of(first) != text) first = first->next;
  return first;
}

// Bytes of `code` in UTF-8, written to `out`, which has room for 4. What is no character becomes
// '?'.
size_t encode(uint32_t code, char* out) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = '?';
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  const size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = bytes - 1; i > 0; --i, code >>= 6) out[i] = static_cast<char>(0x80 | (code & 63));
  constexpr uint8_t kLead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = static_cast<char>(kLead[bytes] | code);
  return bytes;
}

}  // namespace

NvtxText::NvtxText(const wchar_t* text) { convert(text); }

NvtxText::NvtxText(const nvtxEventAttributes_t* attributes) {
  constexpr size_t kWithMessage =
      offsetof(nvtxEventAttributes_t, message) + sizeof(nvtxEventAttributes_t::message);
  if (attributes == nullptr || attributes->size < kWithMessage) return;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      if (attributes->message.ascii != nullptr) view_ = attributes->message.ascii;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      convert(attributes->message.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      view_ = text_of_handle(attributes->message.registered);
      break;
    default:
      break;
  }
}

void NvtxText::convert(const wchar_t* text) {
  size_t filled = 0;
  for (; text != nullptr && *text != L'\0' && filled + 4 <= sizeof(buffer_); ++text) {
    filled += encode(static_cast<uint32_t>(*text), buffer_ + filled);
  }
  view_ = {buffer_, filled};
}

const InternedText* intern(std::string_view text) {
  auto& bucket = buckets[bucket_of(text)];
  const InternedText* first = bucket.load(std::memory_order_acquire);
  const InternedText* found = find(first, text);
  if (found != nullptr) return found;
  auto* added = static_cast<InternedText*>(std::malloc(sizeof(InternedText) + text.size()));
  if (added == nullptr) return nullptr;
  added->bytes = text.size();
  std::memcpy(added->text, text.data(), text.size());
  do {
    added->next = first;
    if (bucket.compare_exchange_weak(first, added, std::memory_order_acq_rel)) return added;
    found = find(first, text);  // another thread may have added the same one meanwhile
  } while (found == nullptr);
  std::free(added);
  return found;
}

std::string_view text_of(const InternedText* interned) {
  if (interned == nullptr) return {};
  return {interned->text, interned->bytes};
}

}  // namespace vramscope
