// A frame of a stack, for people.
#pragma once

#include <cstddef>
#include <string>

#include "tools/model/recording.h"

namespace vramscope {

// "file:line function"; the line matters most, so the names are what is cut.
std::string place_text(const ProcessRecording& process, FrameId id, size_t columns);

}  // namespace vramscope
