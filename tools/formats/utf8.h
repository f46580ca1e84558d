// UTF-8, mended where it leaves us: other programs' names are arbitrary bytes, a snapshot's and
// JSON's texts are not.
#pragma once

#include <string>
#include <string_view>

namespace vramscope {

bool is_utf8(std::string_view text);

// Bytes that are not part of a valid sequence become U+FFFD each.
std::string to_utf8(std::string_view bytes);

}  // namespace vramscope
