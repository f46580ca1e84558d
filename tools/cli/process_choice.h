// The option --process PID|rankN of the commands that take a RUN.
#pragma once

#include <string>
#include <vector>

#include "tools/model/recording.h"

namespace vramscope {

// The processes that `choice` names; all of them if it is empty. Throws UserError if there is
// none. The recording owns them.
std::vector<const ProcessRecording*> choose_processes(const Recording& recording,
                                                      const std::string& choice,
                                                      const std::string& run);

}  // namespace vramscope
