#include "tools/analysis/stack_summary.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace vramscope {
namespace {

constexpr std::array<std::string_view, 2> kPackageFolders = {"site-packages/", "dist-packages/"};

bool is_python_file(std::string_view filename) {
  return filename.ends_with(".py") || (filename.starts_with('<') && filename.ends_with('>'));
}

// Frames that are the same in every stack: recorders, allocator, dispatcher, threads.
bool is_noise(std::string_view name) {
  static constexpr std::string_view kNoise[] = {"torch::unwind::unwind",
                                                "torch::CapturedTraceback::gather",
                                                "gather_with_cpp",
                                                "??",
                                                "CUDACachingAllocator::",
                                                "at::detail::",
                                                "c10::impl::",
                                                "at::_ops::",
                                                "autograd::VariableType::",
                                                "autograd::Engine::",
                                                "autograd::Node::operator()",
                                                "libstdc++.so",
                                                "start_thread",
                                                "clone"};
  return std::ranges::any_of(kNoise, [name](std::string_view noise) {
    return name.find(noise) != std::string_view::npos;
  });
}

// torch::autograd::generated::AddmmBackward0::apply(...)
bool is_backward_step(std::string_view name) {
  const std::string_view function = short_function_name(name);
  return function.find("Backward") != std::string_view::npos && function.ends_with("::apply");
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

std::string_view short_function_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t at = 0;
  int angles = 0;
  for (; at < name.size(); ++at) {
    if (name.substr(at).starts_with(kAnonymous))
      at += kAnonymous.size() - 1;
    else if (name[at] == '<')
      ++angles;
    else if (name[at] == '>')
      --angles;
    else if (name[at] == '(' && angles <= 0 && !name.substr(0, at).ends_with("operator"))
      break;
  }
  return name.substr(0, at);
}

StackSummary summarize_stack(const ProcessRecording& process, StackId stack, size_t max_callers) {
  const auto filename = [&process](FrameId id) {
    return process.strings.at(process.stacks.frame(id).filename);
  };
  const auto name = [&process](FrameId id) {
    return process.strings.at(process.stacks.frame(id).name);
  };
  const auto all = process.stacks.frames(stack);
  std::vector<FrameId> frames;
  std::ranges::copy_if(all, std::back_inserter(frames),
                       [&](FrameId id) { return is_python_file(filename(id)); });
  const bool has_python = !frames.empty();
  if (!has_python)
    std::ranges::copy_if(all, std::back_inserter(frames),
                         [&](FrameId id) { return !is_noise(name(id)); });
  if (frames.empty()) frames.assign(all.begin(), all.end());

  StackSummary summary;
  if (frames.empty()) return summary;
  const auto is_own = [&](FrameId id) {
    return has_python ? !is_library_file(filename(id)) : is_backward_step(name(id));
  };
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
