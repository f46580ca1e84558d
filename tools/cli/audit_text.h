// What CUPTI's audit found, for people.
#pragma once

#include <string>
#include <vector>

#include "tools/model/cupti_audit.h"

namespace vramscope {

// One line: "CUPTI audit: 9 operations agree; ...", or why there is none.
std::string audit_text(const CuptiAudit& audit);

// The same of all processes that asked for an audit, added up. Reads their sessions.
std::string audit_text_of_sessions(const std::vector<std::string>& session_files);

}  // namespace vramscope
