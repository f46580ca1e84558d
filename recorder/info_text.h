// Text that says what a process was: `key=value` lines, in the ring file's information page and in
// the session file's kInfo chunks. The keys are listed in process_info.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace vramscope {

using InfoMap = std::map<std::string, std::string, std::less<>>;

// Twins. Backslash and newline in values become "\\" and "\n".
std::string format_info(const InfoMap& info);

// Later lines win; a line without '=' is skipped; stops at a NUL byte.
void parse_info(std::string_view text, InfoMap& info);

}  // namespace vramscope
