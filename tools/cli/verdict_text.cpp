#include "tools/cli/verdict_text.h"

#include "tools/analysis/report.h"
#include "tools/cli/report_text.h"
#include "tools/formats/recording_file.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

std::string verdict_text(const ProcessRecording& process, size_t columns) {
  const std::string text = final_ooms_text(report_process(process), columns);
  if (text.empty()) return {};
  std::string who = "process " + (process.pid ? std::to_string(*process.pid) : process.source);
  if (process.rank) who += ", rank " + std::to_string(*process.rank);
  return who + " ran out of memory\n" + text;
}

}  // namespace

std::string verdict_text_of_sessions(const std::vector<std::string>& session_files,
                                     size_t columns) {
  std::string text;
  for (const std::string& file : session_files) {
    try {
      for (const auto& process : open_recording(file, {}).processes)
        text += verdict_text(*process, columns);
    } catch (const UserError&) {
      // `report` will say why.
    }
  }
  return text;
}

}  // namespace vramscope
