// Reads session files. Twin of session_writer.
//
// Files are hostile: every length, offset and position is checked before it is used. Memory grows
// with what is in the file, never with what a header claims.
#pragma once

#include <string>
#include <vector>

#include "recorder/file_error.h"
#include "recorder/session.h"

namespace vramscope {

// `path`: NAME.vrams or NAME.ring; both are read where both exist. Throws FileError where nothing
// can be read: not a session file, empty, of a newer version, cut before its first chunk. A session
// that is cut later, or damaged in the middle, is returned with complete == false and what is wrong
// in `problems`.
Session read_session(const std::string& path);

// Session files of a folder, sorted by name; of a session that left only a ring file, that. Throws
// FileError if the folder cannot be read or holds none.
std::vector<std::string> find_sessions(const std::string& folder);

}  // namespace vramscope
