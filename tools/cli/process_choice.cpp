#include "tools/cli/process_choice.h"

#include "tools/model/user_error.h"

namespace vramscope {
namespace {

std::string name_of(const ProcessRecording& process) {
  std::string name = process.pid ? std::to_string(*process.pid) : process.source;
  if (process.rank) name += " (rank" + std::to_string(*process.rank) + ")";
  return name;
}

bool is_named(const ProcessRecording& process, const std::string& choice) {
  return (process.pid && choice == std::to_string(*process.pid)) ||
         (process.rank && choice == "rank" + std::to_string(*process.rank));
}

}  // namespace

std::vector<const ProcessRecording*> choose_processes(const Recording& recording,
                                                      const std::string& choice,
                                                      const std::string& run) {
  std::vector<const ProcessRecording*> chosen;
  std::string known;
  for (const auto& process : recording.processes) {
    if (choice.empty() || is_named(*process, choice)) chosen.push_back(process.get());
    known += (known.empty() ? "" : ", ") + name_of(*process);
  }
  if (chosen.empty())
    throw UserError(run + ": no process " + choice + " (--process); there are: " + known);
  return chosen;
}

}  // namespace vramscope
