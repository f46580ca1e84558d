#include "tools/cli/report_text.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "tools/analysis/stack_summary.h"
#include "tools/cli/audit_text.h"
#include "tools/cli/place_text.h"
#include "tools/cli/report_ranges.h"
#include "tools/cli/text.h"

namespace vramscope {
namespace {

constexpr size_t kPlaceColumn = 33;  // where the stacks' text begins in the table of the peak
constexpr size_t kMaxCallers = 2;
constexpr size_t kMaxPinning = 3;
constexpr size_t kMaxRecoveredOoms = 3;

class ReportText {
 public:
  explicit ReportText(size_t top, size_t columns = kTextColumns) : top_(top), columns_(columns) {}

  std::string text;

  // All processes side by side, before each one's own report.
  void add_overview(const std::vector<ProcessReport>& reports) {
    line("%s", plural(reports.size(), "process", "processes").c_str());
    line("  %6s %9s %4s %16s %14s %16s", "rank", "pid", "GPU", "peak allocated", "peak reserved",
         "live at the end");
    const auto number = [](const std::optional<int64_t>& value) {
      return value ? std::to_string(*value) : std::string("-");
    };
    for (const ProcessReport& report : reports)
      for (const DeviceReport& device : report.devices)
        line("  %6s %9s %4d %16s %14s %16s", number(report.process->rank).c_str(),
             number(report.process->pid).c_str(), device.device,
             binary_size(device.peak_allocated_bytes).c_str(),
             binary_size(device.peak_reserved_bytes).c_str(),
             binary_size(device.live_bytes).c_str());
  }

  void add_process(const ProcessReport& report) {
    process_ = report.process;
    if (!text.empty()) text += "\n" + std::string(kTextColumns, '-') + "\n\n";
    add_heading();
    add_warnings();
    add_audit();
    add_ooms(report.ooms);
    for (const DeviceReport& device : report.devices) add_device(device);
    if (report.devices.empty()) text += "\nNo device memory was allocated.\n";
    add_kinds();
  }

  void add_final_ooms(const ProcessReport& report) {
    process_ = report.process;
    for (const OutOfMemory& oom : report.ooms)
      if (oom.is_final) add_oom(oom);
  }

 private:
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    text += buffer;
    text += '\n';
  }

  void add_heading() {
    const ProcessRecording& process = *process_;
    line("%s",
         shown(process.command.empty() ? process.source : process.command, kTextColumns).c_str());
    std::string facts;
    const auto add = [&facts](const std::string& fact) {
      facts += (facts.empty() ? "" : ", ") + fact;
    };
    if (process.pid) add("process " + std::to_string(*process.pid));
    if (process.rank) add("rank " + std::to_string(*process.rank));
    if (!process.host.empty()) add("host " + process.host);
    if (process.from_pickle) add("snapshot by PyTorch");
    add(plural(process.events, "event"));
    if (!process.from_pickle)
      add(process.lost_events == 0 ? "none lost" : with_commas(process.lost_events) + " LOST");
    line("%s", shown(facts, kTextColumns).c_str());
  }

  // What makes the figures less than exact comes before them.
  void add_warnings() {
    const ProcessRecording& process = *process_;
    if (!process.warning.empty()) add_warning(process.warning);
    if (process.lost_events > 0)
      add_warning(
          plural(process.lost_events, "event") +
          " found no room: what follows is incomplete; use a larger VRAMSCOPE_RING, or see what "
          "the job's warnings said of the disk");
    if (process.counters.differences > 0)
      add_warning("the framework's own counters differ from these figures after " +
                  plural(process.counters.differences, "event") + ", by at most " +
                  binary_size(magnitude(process.counters.largest_difference_bytes)));
  }

  void add_audit() {
    if (!process_->cupti_audit) return;
    line("%s", audit_text(*process_->cupti_audit).c_str());
  }

  static uint64_t magnitude(int64_t value) {
    return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  }

  void add_warning(const std::string& warning) {
    line("! %s", shown(warning, kTextColumns - 2).c_str());
  }

  void add_device(const DeviceReport& device) {
    text += '\n';
    line("GPU %d", device.device);
    add_size("peak allocated", device.peak_allocated_bytes, "");
    add_size("peak reserved", device.peak_reserved_bytes, "");
    if (device.peak_outside_bytes > 0)
      add_size("outside it", device.peak_outside_bytes, "taken by other libraries, at most");
    add_size("live at the end", device.live_bytes,
             "in " + plural(device.live_blocks, "block") + "; " +
                 binary_size(device.live_reserved_bytes) + " reserved");
    if (!device.stacks_at_peak.empty()) add_peak(device);
    add_owners(device);
    for (const std::string& row : range_lines(*process_, device.ranges, top_))
      line("%s", row.c_str());
  }

  void add_size(const char* name, uint64_t bytes, const std::string& note) {
    line("  %-16s %11s %20s B%s%s", name, binary_size(bytes).c_str(), with_commas(bytes).c_str(),
         note.empty() ? "" : "  ", note.c_str());
  }

  void add_peak(const DeviceReport& device) {
    text += '\n';
    line("  What filled it at the peak (entry %s of %s of its snapshot)",
         with_commas(device.peak_event).c_str(), with_commas(device.events).c_str());
    line("  %11s %7s %8s  %s", "bytes", "share", "blocks", "allocated at");
    const size_t count =
        top_ == 0 ? device.stacks_at_peak.size() : std::min(top_, device.stacks_at_peak.size());
    for (size_t i = 0; i < count; ++i) {
      const StackUse& use = device.stacks_at_peak[i];
      add_use(use.bytes, use.blocks, device.peak_allocated_bytes, stack_lines(use));
    }
    StackUse rest;
    for (size_t i = count; i < device.stacks_at_peak.size(); ++i) {
      rest.bytes += device.stacks_at_peak[i].bytes;
      rest.blocks += device.stacks_at_peak[i].blocks;
    }
    if (rest.blocks > 0)
      add_use(
          rest.bytes, rest.blocks, device.peak_allocated_bytes,
          {plural(device.stacks_at_peak.size() - count, "other stack") + " (--top 0 shows all)"});
  }

  void add_use(uint64_t bytes, uint64_t blocks, uint64_t total,
               const std::vector<std::string>& where) {
    const double share =
        total == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(total);
    line("  %11s %5.1f %% %8s  %s", binary_size(bytes).c_str(), share, with_commas(blocks).c_str(),
         where.front().c_str());
    for (size_t i = 1; i < where.size(); ++i)
      line("%*s%s", static_cast<int>(kPlaceColumn), "", where[i].c_str());
  }

  std::vector<std::string> stack_lines(const StackUse& use) const {
    std::vector<std::string> lines = stack_lines(use.stack, kTextColumns - kPlaceColumn);
    if (use.category != 0)
      lines.push_back("  category " + shown(process_->strings.at(use.category), 40));
    return lines;
  }

  std::vector<std::string> stack_lines(StackId stack, size_t columns) const {
    const StackSummary summary = summarize_stack(*process_, stack, kMaxCallers);
    if (!summary.known) return {"(no stack recorded)"};
    std::vector<std::string> lines = {place_text(*process_, summary.place, columns)};
    if (summary.has_inside)
      lines.push_back("  in " + place_text(*process_, summary.inside, columns - 5));
    for (const FrameId caller : summary.callers)
      lines.push_back("  from " + place_text(*process_, caller, columns - 7));
    return lines;
  }

  void add_owners(const DeviceReport& device) {
    if (device.owners_at_peak.empty()) return;
    text += '\n';
    line("  Taken from the driver at that moment, by library");
    for (const OwnerUse& use : device.owners_at_peak)
      line("  %11s %20s B  %s", binary_size(use.bytes).c_str(), with_commas(use.bytes).c_str(),
           shown(use.owner, 60).c_str());
    if (find_kind(process_->kinds, MemoryKind::kContext, device.device).peak_count > 0)
      line("  %11s %20s    CUDA context (its size is not in a recording)", "?", "");
  }

  // The one that ended the job first, then those that the program recovered from.
  void add_ooms(const std::vector<OutOfMemory>& ooms) {
    if (ooms.empty()) return;
    text += '\n';
    line("Out of memory (%s)", plural(ooms.size(), "failed request").c_str());
    size_t recovered = 0;
    for (const OutOfMemory& oom : ooms)
      if (oom.is_final) add_oom(oom);
    for (const OutOfMemory& oom : ooms)
      if (!oom.is_final && ++recovered <= kMaxRecoveredOoms) add_oom(oom);
    if (recovered > kMaxRecoveredOoms)
      line("  and %s more (--json has all)", with_commas(recovered - kMaxRecoveredOoms).c_str());
  }

  void add_oom(const OutOfMemory& oom) {
    std::string verdict = oom_verdict_name(oom.verdict);
    std::ranges::replace(verdict, '_', ' ');
    add_wrapped("  ", "GPU " + std::to_string(oom.device) + ": " + exact_size(oom.requested_bytes) +
                          " asked for" + (oom.asked_by.empty() ? "" : " by ") +
                          shown(oom.asked_by, 20) + ": " + verdict + " (confidence " +
                          confidence_name(oom.confidence) + ")");
    for (const std::string& reason : oom.because) add_wrapped("    - ", reason);
    for (const std::string& advice : oom.advice) add_wrapped("    => ", advice);
    add_wrapped("    ", "with " + binary_size(oom.allocated_bytes) + " allocated, " +
                            binary_size(oom.reserved_bytes) + " reserved, " +
                            (oom.free_bytes ? binary_size(*oom.free_bytes) : "unknown") +
                            " free, largest free block " +
                            binary_size(oom.largest_free_block_bytes));
    for (size_t i = 0; i < std::min(kMaxPinning, oom.pinned_by.size()); ++i) {
      const PinnedBy& pinned = oom.pinned_by[i];
      line("    %s (%s) %s %s free beside %s, from", plural(pinned.blocks, "block").c_str(),
           binary_size(pinned.block_bytes).c_str(), pinned.blocks == 1 ? "pins" : "pin",
           binary_size(pinned.bytes).c_str(), pinned.blocks == 1 ? "it" : "them");
      for (const std::string& row : stack_lines(pinned.stack, columns_ - 6))
        line("      %s", row.c_str());
    }
    line(oom.is_final ? "    the last request; it failed at"
                      : "    the program went on; it failed at");
    for (const std::string& row : stack_lines(oom.stack, columns_ - 6))
      line("      %s", row.c_str());
  }

  void add_wrapped(const std::string& first_indent, const std::string& sentence) {
    std::string row = first_indent;
    const std::string indent(first_indent.size(), ' ');
    size_t begin = 0;
    while (begin < sentence.size()) {
      const size_t end = std::min(sentence.find(' ', begin), sentence.size());
      if (row.size() + 1 + end - begin > columns_ && row.size() > indent.size()) {
        line("%s", row.c_str());
        row = indent;
      }
      row += (row.size() > indent.size() ? " " : "") + sentence.substr(begin, end - begin);
      begin = end + 1;
    }
    line("%s", row.c_str());
  }

  // Worth a table where there is more than contexts, code and plain memory.
  void add_kinds() {
    const auto is_special = [](const KindUse& use) { return use.kind > MemoryKind::kLinear; };
    if (std::ranges::none_of(process_->kinds, is_special)) return;
    text += '\n';
    line("What the driver was asked for, by kind");
    line("  %4s  %-16s %12s %8s %16s %8s", "GPU", "kind", "peak", "count", "live at the end",
         "count");
    for (const KindUse& use : process_->kinds) {
      const bool sized = has_known_size(use.kind);
      std::string kind = memory_kind_name(use.kind);
      std::ranges::replace(kind, '_', ' ');
      line("  %4s  %-16s %12s %8s %16s %8s",
           use.device < 0 ? "-" : std::to_string(use.device).c_str(), kind.c_str(),
           sized ? binary_size(use.peak_bytes).c_str() : "?", with_commas(use.peak_count).c_str(),
           sized ? binary_size(use.live_bytes).c_str() : "?", with_commas(use.live_count).c_str());
    }
  }

  const size_t top_;
  const size_t columns_;
  const ProcessRecording* process_ = nullptr;
};

}  // namespace

std::string final_ooms_text(const ProcessReport& process, size_t columns) {
  ReportText report(0, columns);
  report.add_final_ooms(process);
  return report.text;
}

std::string report_text(const std::vector<ProcessReport>& processes, size_t top) {
  ReportText report(top);
  if (processes.size() > 1) report.add_overview(processes);
  for (const ProcessReport& process : processes) report.add_process(process);
  return report.text;
}

}  // namespace vramscope
