// Texts of NVTX: what a call's message says, and the handles of registered strings and domains.
#pragma once

#include <cstddef>
#include <string_view>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace vramscope {

// A message in UTF-8, for the length of a call. Without a message it is empty.
class NvtxText {
 public:
  explicit NvtxText(const char* text) : view_(text == nullptr ? std::string_view() : text) {}
  explicit NvtxText(const wchar_t* text);
  explicit NvtxText(const nvtxEventAttributes_t* attributes);
  NvtxText(const NvtxText&) = delete;

  std::string_view view() const { return view_; }

 private:
  void convert(const wchar_t* text);

  std::string_view view_;
  char buffer_[1024];  // longer wide texts are cut
};

// A text that lives for ever, once for all that are equal. Lock-free; null if memory is exhausted.
struct InternedText;
const InternedText* intern(std::string_view text);
std::string_view text_of(const InternedText* interned);  // null: empty

// NVTX's handles are interned texts.
template <typename Handle>
Handle handle_of(std::string_view text) {
  return reinterpret_cast<Handle>(const_cast<InternedText*>(intern(text)));
}
template <typename Handle>
std::string_view text_of_handle(Handle handle) {
  return text_of(reinterpret_cast<const InternedText*>(handle));
}

}  // namespace vramscope
