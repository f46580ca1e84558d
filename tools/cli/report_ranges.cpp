#include "tools/cli/report_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/analysis/stack_summary.h"
#include "tools/cli/place_text.h"
#include "tools/cli/text.h"

namespace vramscope {
namespace {

constexpr size_t kStepPlaceColumn = 62;
constexpr size_t kRangeColumn = 42;

std::string signed_size(double bytes) {
  const auto magnitude = static_cast<uint64_t>(std::llround(std::abs(bytes)));
  return (bytes < 0 && magnitude > 0 ? "-" : "+") + binary_size(magnitude);
}

std::string caller_text(const ProcessRecording& process, StackId stack) {
  const StackSummary summary = summarize_stack(process, stack, 0);
  if (!summary.known) return "(unknown)";
  return place_text(process, summary.place, kTextColumns - kStepPlaceColumn);
}

std::string step_line(const ProcessRecording& process, const StepUse& use) {
  const std::vector<uint64_t>& peaks = use.peak_allocated_bytes;
  char numbers[kStepPlaceColumn + 40];
  std::snprintf(numbers, sizeof numbers, "  %9s %12s %12s %12s %10s",
                with_commas(peaks.size()).c_str(), binary_size(std::ranges::max(peaks)).c_str(),
                binary_size(peaks.front()).c_str(), binary_size(peaks.back()).c_str(),
                use.growth_bytes ? signed_size(*use.growth_bytes).c_str() : "?");
  return std::string(numbers) + "  " + caller_text(process, use.stack);
}

void add_steps(const ProcessRecording& process, const RangeReport& ranges, RangeKind kind,
               size_t top, std::vector<std::string>& lines) {
  char heading[kTextColumns + 1];
  std::snprintf(heading, sizeof heading, "  %9s %12s %12s %12s %10s  %s", "calls", "highest peak",
                "first peak", "last peak", "growth", "called at");
  lines.emplace_back(heading);
  size_t shown_rows = 0;
  size_t rows = 0;
  for (const StepUse& use : ranges.steps) {
    if (use.kind != kind) continue;
    ++rows;
    if (top != 0 && shown_rows == top) continue;
    lines.push_back(step_line(process, use));
    ++shown_rows;
  }
  if (rows > shown_rows)
    lines.push_back("  " + plural(rows - shown_rows, "other place") + " (--top 0 shows all)");
}

// step() is what counts. Where none was seen, zero_grad() marks the steps as well.
void add_optimizers(const ProcessRecording& process, const RangeReport& ranges, size_t top,
                    std::vector<std::string>& lines) {
  if (ranges.steps.empty()) return;
  const bool has_steps = std::ranges::any_of(
      ranges.steps, [](const StepUse& use) { return use.kind == RangeKind::kOptimizerStep; });
  lines.emplace_back();
  if (has_steps) {
    lines.emplace_back("  Optimizer steps: peak allocated from one to the next, growth a step");
    return add_steps(process, ranges, RangeKind::kOptimizerStep, top, lines);
  }
  lines.emplace_back(
      "  No optimizer's step() was seen (compiled, replayed from a CUDA graph, or not PyTorch's);");
  lines.emplace_back("  its zero_grad(): peak allocated from one to the next, growth a call");
  add_steps(process, ranges, RangeKind::kZeroGrad, top, lines);
}

std::string nvtx_line(const ProcessRecording& process, const NvtxUse& use) {
  std::string name(process.strings.at(use.name));
  if (name.empty()) name = "(no name)";
  if (use.domain != 0) name.insert(0, std::string(process.strings.at(use.domain)) + ": ");
  if (use.kind == RangeKind::kNvtxMark) name += " (mark)";
  if (use.open > 0) name += " (" + with_commas(use.open) + " without end)";
  char numbers[kRangeColumn + 40];
  std::snprintf(numbers, sizeof numbers, "  %9s %12s %14s", with_commas(use.times).c_str(),
                binary_size(use.peak_allocated_bytes).c_str(),
                signed_size(static_cast<double>(use.kept_bytes)).c_str());
  return std::string(numbers) + "  " + shown(name, kTextColumns - kRangeColumn);
}

void add_nvtx(const ProcessRecording& process, const RangeReport& ranges, size_t top,
              std::vector<std::string>& lines) {
  if (ranges.nvtx.empty()) return;
  lines.emplace_back();
  lines.emplace_back(
      "  NVTX ranges: peak allocated inside, and kept from begin to end, both at most");
  char heading[kTextColumns + 1];
  std::snprintf(heading, sizeof heading, "  %9s %12s %14s  %s", "times", "peak", "kept", "range");
  lines.emplace_back(heading);
  const size_t count = top == 0 ? ranges.nvtx.size() : std::min(top, ranges.nvtx.size());
  for (size_t i = 0; i < count; ++i) lines.push_back(nvtx_line(process, ranges.nvtx[i]));
  if (count < ranges.nvtx.size())
    lines.push_back("  " + plural(ranges.nvtx.size() - count, "other range") +
                    " (--top 0 shows all)");
}

}  // namespace

std::vector<std::string> range_lines(const ProcessRecording& process, const RangeReport& ranges,
                                     size_t top) {
  std::vector<std::string> lines;
  add_optimizers(process, ranges, top, lines);
  add_nvtx(process, ranges, top, lines);
  return lines;
}

}  // namespace vramscope
