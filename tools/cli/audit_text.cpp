#include "tools/cli/audit_text.h"

#include <optional>

#include "recorder/file_error.h"
#include "recorder/session_reader.h"
#include "tools/cli/text.h"

namespace vramscope {
namespace {

std::optional<CuptiAudit> audit_of_session(const std::string& file) {
  CuptiAuditor auditor;
  try {
    for (const SessionEvent& recorded : read_session(file).events) auditor.apply(recorded.event);
  } catch (const FileError&) {
    return std::nullopt;  // whoever opens it is told
  }
  return auditor.result();
}

void add(CuptiAudit& sum, const CuptiAudit& audit) {
  sum.started = true;
  sum.agreed += audit.agreed;
  sum.hooks_only += audit.hooks_only;
  sum.cupti_only += audit.cupti_only;
  sum.sizes_differ += audit.sizes_differ;
  sum.lost += audit.lost;
}

}  // namespace

std::string audit_text(const CuptiAudit& audit) {
  if (!audit.started) return "CUPTI audit: could not be started";
  std::string text = "CUPTI audit: " + plural(audit.agreed, "operation") +
                     " agree; seen by the hooks alone: " + with_commas(audit.hooks_only) +
                     ", by CUPTI alone: " + with_commas(audit.cupti_only) +
                     ", of other size: " + with_commas(audit.sizes_differ);
  if (audit.lost > 0) text += "; lost by CUPTI: " + with_commas(audit.lost);
  return text;
}

std::string audit_text_of_sessions(const std::vector<std::string>& session_files) {
  CuptiAudit sum;
  size_t without = 0;
  for (const std::string& file : session_files) {
    const std::optional<CuptiAudit> audit = audit_of_session(file);
    audit && audit->started ? add(sum, *audit) : void(++without);
  }
  std::string text = audit_text(sum);
  if (sum.started && without > 0)
    text += "; " + plural(without, "process", "processes") + " without";
  return text;
}

}  // namespace vramscope
