// Reads a snapshot that PyTorch (or `vramscope snapshot`) wrote into a recording. Twin:
// snapshot_writer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/model/recording.h"

namespace vramscope {

// `pickle`: the file's bytes, needed during the call only. `source` names the file in errors.
// Throws UserError where the file is no snapshot. Sizes of blocks in the trace are the requested
// ones: PyTorch's trace has no others.
std::unique_ptr<ProcessRecording> read_snapshot(std::string_view pickle, const std::string& source);

}  // namespace vramscope
