#include "tools/model/optimizer_calls.h"

#include <algorithm>

namespace vramscope {
namespace {

bool same_frame(const PythonFrame& a, const PythonFrame& b) {
  return a.code == b.code && a.instruction == b.instruction;
}

// Before 3.11 a code object does not know its qualified name; no other function of that file is
// called `wrapper` and enters a scope.
bool is_step_wrapper(const PythonCode& code) {
  return code.name == "wrapper" &&
         (code.qualified_name == code.name ||
          code.qualified_name == "Optimizer.profile_hook_step.<locals>.wrapper");
}

}  // namespace

OptimizerCalls::Code OptimizerCalls::code_of(const PythonFrame& frame) {
  const auto [known, is_new] = codes_.try_emplace(frame.code, Code::kOther);
  if (!is_new) return known->second;
  const auto code = session_.python_codes.find(frame.code);
  if (code == session_.python_codes.end()) return Code::kOther;
  const std::string& file = code->second.filename;
  if (file.ends_with("/torch/autograd/profiler.py") && code->second.name == "__enter__")
    known->second = Code::kScopeEntry;
  if (file.ends_with("/torch/optim/optimizer.py")) {
    if (is_step_wrapper(code->second)) known->second = Code::kStep;
    if (code->second.name == "zero_grad") known->second = Code::kZeroGrad;
  }
  return known->second;
}

std::optional<OptimizerCall> OptimizerCalls::find(uint32_t python_stack) {
  const auto frames = session_.python_stacks.find(python_stack);
  const auto entry = std::ranges::find_if(
      frames, [this](const PythonFrame& frame) { return code_of(frame) == Code::kScopeEntry; });
  if (frames.end() - entry < 2) return std::nullopt;
  const Code code = code_of(entry[1]);
  if (code != Code::kStep && code != Code::kZeroGrad) return std::nullopt;

  const std::span<const PythonFrame> callers(entry + 2, frames.end());
  const bool is_part = std::ranges::any_of(
      callers, [this](const PythonFrame& frame) { return code_of(frame) == Code::kStep; });
  if (is_part) return std::nullopt;
  const auto kind = code == Code::kStep ? RangeKind::kOptimizerStep : RangeKind::kZeroGrad;
  return OptimizerCall{kind, entry[1], callers};
}

bool OptimizerCalls::is_inside(const OptimizerCall& call, uint32_t python_stack) const {
  const auto frames = session_.python_stacks.find(python_stack);
  if (frames.size() <= call.callers.size()) return false;
  const auto callers = frames.last(call.callers.size());
  return frames[frames.size() - callers.size() - 1].code == call.frame.code &&
         std::ranges::equal(callers, call.callers, same_frame);
}

}  // namespace vramscope
