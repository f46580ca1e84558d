#include "tools/analysis/stack_summary.h"

#include <algorithm>
#include <array>

namespace vramscope {
namespace {

constexpr std::array<std::string_view, 2> kPackageFolders = {"site-packages/", "dist-packages/"};

bool is_python_file(std::string_view filename) {
  return filename.ends_with(".py") || (filename.starts_with('<') && filename.ends_with('>'));
}

// Frames between the allocation and whoever asked for it that no reader needs: the recorders'.
bool is_noise(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNoise = {
      "torch::unwind::unwind", "torch::CapturedTraceback::gather", "gather_with_cpp", "??"};
  return std::ranges::any_of(
      kNoise, [name](std::string_view noise) { return name.find(noise) != std::string_view::npos; });
}

}  // namespace

bool is_library_file(std::string_view filename) {
  for (const std::string_view folder : kPackageFolders)
    if (filename.find(folder) != std::string_view::npos) return true;
  return filename.find("/lib/python3") != std::string_view::npos ||
         filename.starts_with("<frozen ") || !is_python_file(filename);
}

std::string_view short_filename(std::string_view filename) {
  for (const std::string_view folder : kPackageFolders) {
    const size_t at = filename.rfind(folder);
    if (at != std::string_view::npos) return filename.substr(at + folder.size());
  }
  return filename;
}

StackSummary summarize_stack(const ProcessRecording& process, StackId stack, size_t max_callers) {
  const auto filename = [&process](FrameId id) {
    return process.strings.at(process.stacks.frame(id).filename);
  };
  const auto all = process.stacks.frames(stack);
  std::vector<FrameId> frames;
  std::ranges::copy_if(all, std::back_inserter(frames),
                       [&](FrameId id) { return is_python_file(filename(id)); });
  if (frames.empty())
    std::ranges::copy_if(all, std::back_inserter(frames), [&](FrameId id) {
      return !is_noise(process.strings.at(process.stacks.frame(id).name));
    });
  if (frames.empty()) frames.assign(all.begin(), all.end());

  StackSummary summary;
  if (frames.empty()) return summary;
  const auto is_own = [&](FrameId id) { return !is_library_file(filename(id)); };
  auto place = std::ranges::find_if(frames, is_own);
  const bool has_own = place != frames.end();
  if (!has_own) place = frames.begin();
  summary.known = true;
  summary.place = *place;
  summary.has_inside = place != frames.begin();
  summary.inside = frames.front();
  for (auto caller = place + 1; caller != frames.end(); ++caller)
    if (summary.callers.size() < max_callers && (!has_own || is_own(*caller)))
      summary.callers.push_back(*caller);
  return summary;
}

}  // namespace vramscope
