#include "tools/cli/place_text.h"

#include <algorithm>

#include "tools/analysis/stack_summary.h"
#include "tools/cli/text.h"

namespace vramscope {

std::string place_text(const ProcessRecording& process, FrameId id, size_t columns) {
  const Frame& frame = process.stacks.frame(id);
  const std::string_view filename = process.strings.at(frame.filename);
  const std::string_view name = short_function_name(process.strings.at(frame.name));
  if (filename.empty() || frame.line <= 0) return shown(name, columns);  // native, no debug info
  const std::string number = ":" + std::to_string(frame.line) + " ";
  const std::string function = shown(name, std::max<size_t>(columns / 3, 12));
  const size_t used = number.size() + std::min(function.size(), columns / 3);
  return shown(short_filename(filename), columns - std::min(used, columns / 2)) + number + function;
}

}  // namespace vramscope
