#include "recorder/info_text.h"

namespace vramscope {
namespace {

std::string escape(std::string_view value) {
  std::string escaped;
  escaped.reserve(value.size());
  for (const char c : value) {
    if (c == '\0') break;
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string unescape(std::string_view value) {
  std::string plain;
  plain.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 == value.size()) {
      plain += value[i];
      continue;
    }
    ++i;
    plain += value[i] == 'n' ? '\n' : value[i];
  }
  return plain;
}

}  // namespace

std::string format_info(const InfoMap& info) {
  std::string text;
  for (const auto& [key, value] : info) text.append(key).append("=").append(escape(value)) += '\n';
  return text;
}

void parse_info(std::string_view text, InfoMap& info) {
  text = text.substr(0, text.find('\0'));
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    info.insert_or_assign(std::string(line.substr(0, equals)), unescape(line.substr(equals + 1)));
  }
}

}  // namespace vramscope
