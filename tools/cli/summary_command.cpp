// `vramscope summary RUN`: what torch.cuda.memory_summary shows, from a recording, at any moment.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/analysis/memory_statistics.h"
#include "tools/analysis/report.h"
#include "tools/cli/command.h"
#include "tools/cli/process_choice.h"
#include "tools/cli/run_choice.h"
#include "tools/cli/text.h"
#include "tools/formats/recording_file.h"
#include "tools/formats/utf8.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

using Json = nlohmann::ordered_json;

struct SummaryOptions {
  RunChoice choice;
  std::string process;
  std::optional<int> device;
  std::optional<size_t> at;
  bool at_peak = false;
  bool at_oom = false;
  bool at_end = false;
  bool json = false;
};

struct DeviceSummary {
  const DeviceTrace* trace = nullptr;
  size_t events = 0;
  MemoryStatistics statistics;
};

struct ProcessSummary {
  const ProcessRecording* process = nullptr;
  std::vector<DeviceSummary> devices;
};

size_t peak_of(const ProcessReport& report, int device) {
  for (const DeviceReport& each : report.devices)
    if (each.device == device) return each.peak_event;
  return 0;
}

// After the last failure; of devices without one, nothing is shown.
std::optional<size_t> last_oom_of(const DeviceTrace& trace) {
  for (size_t i = trace.events.size(); i-- > 0;)
    if (trace.events[i].action == Action::kOom) return i + 1;
  return std::nullopt;
}

ProcessSummary summarize(const ProcessRecording& process, const SummaryOptions& options) {
  ProcessSummary summary;
  summary.process = &process;
  std::optional<ProcessReport> report;
  if (options.at_peak) report = report_process(process);
  for (const DeviceTrace& trace : process.devices) {
    if (options.device && *options.device != trace.device) continue;
    if (trace.events.empty() && (!trace.final_layout || trace.final_layout->segments.empty()))
      continue;
    std::optional<size_t> events = trace.events.size();
    if (options.at) events = options.at;
    if (options.at_peak) events = peak_of(*report, trace.device);
    if (options.at_oom) events = last_oom_of(trace);
    if (!events) continue;
    summary.devices.push_back({&trace, *events, memory_statistics(process, trace, *events)});
  }
  return summary;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json statistics_json(const MemoryStatistics& statistics) {
  Json metrics;
  for (size_t metric = 0; metric < kMetricCount; ++metric) {
    for (size_t kind = 0; kind < kPoolKindCount; ++kind) {
      const Statistic& each = statistics.metrics[metric][kind];
      metrics[metric_name(static_cast<Metric>(metric))]
             [pool_kind_name(static_cast<PoolKind>(kind))] = {{"current", each.current},
                                                              {"peak", each.peak},
                                                              {"allocated", each.allocated},
                                                              {"freed", each.freed}};
    }
  }
  return metrics;
}

std::string summary_json(const std::vector<ProcessSummary>& processes) {
  Json list = Json::array();
  for (const ProcessSummary& summary : processes) {
    Json devices = Json::array();
    for (const DeviceSummary& each : summary.devices) {
      const MemoryStatistics& statistics = each.statistics;
      devices.push_back({{"device", each.trace->device},
                         {"event", each.events},
                         {"events", each.trace->events.size()},
                         {"statistics", statistics_json(statistics)},
                         {"num_ooms", statistics.ooms},
                         {"num_alloc_retries", statistics.retries},
                         {"capacity_bytes", or_null(statistics.device.capacity_bytes)},
                         {"known_bytes", statistics.device.known_bytes},
                         {"other_bytes", or_null(statistics.device.other_bytes)},
                         {"free_bytes", or_null(statistics.device.free_bytes)}});
    }
    list.push_back({{"pid", or_null(summary.process->pid)},
                    {"rank", or_null(summary.process->rank)},
                    {"source", to_utf8(summary.process->source)},
                    {"devices", std::move(devices)}});
  }
  return Json{{"processes", std::move(list)}}.dump(2) + "\n";
}

constexpr const char* kMetricTitles[kMetricCount] = {
    "Allocated memory", "Active memory",  "Requested memory",
    "Reserved memory",  "Non-releasable", "Allocations",
    "Active blocks",    "Segments",       "Non-releasable blocks"};
constexpr const char* kKindTitles[kPoolKindCount] = {"", "  from small pool", "  from large pool"};

bool counts_bytes(size_t metric) {
  return metric <= static_cast<size_t>(Metric::kInactiveSplitBytes);
}

void add_line(std::string& text, const char* title, const std::array<std::string, 4>& columns) {
  char line[kTextColumns + 1];
  std::snprintf(line, sizeof line, "  %-23s %16s %16s %16s %16s\n", title, columns[0].c_str(),
                columns[1].c_str(), columns[2].c_str(), columns[3].c_str());
  text += line;
}

std::string size_or_unknown(const std::optional<uint64_t>& bytes) {
  return bytes ? exact_size(*bytes) : "unknown";
}

std::string device_text(const DeviceSummary& summary) {
  const MemoryStatistics& statistics = summary.statistics;
  const size_t events = summary.trace->events.size();
  std::string text = "GPU " + std::to_string(summary.trace->device) + " after entry " +
                     with_commas(summary.events) + " of " + with_commas(events) +
                     " of its snapshot: " + plural(statistics.ooms, "out-of-memory error") + ", " +
                     plural(statistics.retries, "retry", "retries") + " with an empty cache\n";
  add_line(text, "", {"now", "peak", "total allocated", "total freed"});
  for (size_t metric = 0; metric < kMetricCount; ++metric) {
    for (size_t kind = 0; kind < kPoolKindCount; ++kind) {
      const Statistic& each = statistics.metrics[metric][kind];
      const auto shown_value = [metric](uint64_t value) {
        return counts_bytes(metric) ? binary_size(value) : with_commas(value);
      };
      add_line(text, kind == 0 ? kMetricTitles[metric] : kKindTitles[kind],
               {shown_value(each.current), shown_value(each.peak), shown_value(each.allocated),
                shown_value(each.freed)});
    }
  }
  text += "  The driver: " + size_or_unknown(statistics.device.capacity_bytes) + " in all\n";
  text +=
      "    taken by this process's calls       " + exact_size(statistics.device.known_bytes) + "\n";
  text += "    contexts, code, other processes     " +
          size_or_unknown(statistics.device.other_bytes) + "\n";
  text += "    free                                " +
          size_or_unknown(statistics.device.free_bytes) + "\n";
  return text;
}

std::string summary_text(const std::vector<ProcessSummary>& processes) {
  std::string text;
  for (const ProcessSummary& summary : processes) {
    const ProcessRecording& process = *summary.process;
    if (!text.empty()) text += "\n";
    text += shown(process.command.empty() ? process.source : process.command, kTextColumns) + "\n";
    if (process.pid) text += "process " + std::to_string(*process.pid) + "\n";
    for (const DeviceSummary& device : summary.devices) text += "\n" + device_text(device);
    if (summary.devices.empty()) text += "\nNothing to show of that moment.\n";
  }
  return text;
}

void check_moment(const ProcessSummary& summary, const SummaryOptions& options,
                  const std::string& run) {
  if (!options.at) return;
  if (summary.devices.size() > 1)
    throw UserError(run + ": --at counts the entries of one GPU; choose it with --device");
  for (const DeviceSummary& device : summary.devices)
    if (*options.at > device.trace->events.size())
      throw UserError(run + ": --at " + std::to_string(*options.at) + ": GPU " +
                      std::to_string(device.trace->device) + " has " +
                      plural(device.trace->events.size(), "entry", "entries"));
}

int print_summary(const SummaryOptions& options) {
  const std::string run = path_of(options.choice);
  const Recording recording = open_recording(run);
  warn_of_unreadable(recording.unreadable);
  std::vector<ProcessSummary> processes;
  for (const ProcessRecording* process : choose_processes(recording, options.process, run)) {
    processes.push_back(summarize(*process, options));
    check_moment(processes.back(), options, run);
  }
  std::cout << (options.json ? summary_json(processes) : summary_text(processes)) << std::flush;
  if (!std::cout) throw UserError("standard output: cannot be written");
  return 0;
}

}  // namespace

RunCommand define_summary_command(CLI::App& app) {
  const auto options = std::make_shared<SummaryOptions>();
  add_run_choice(app, options->choice);
  CLI::Option_group* moment = app.add_option_group("moment", "which moment");
  moment->add_option("--at", options->at, "after so many entries of the GPU's snapshot");
  moment->add_flag("--at-peak", options->at_peak, "when most bytes were allocated");
  moment->add_flag("--at-oom", options->at_oom, "at the last out-of-memory error");
  moment->add_flag("--at-end", options->at_end, "after the last event (default)");
  moment->require_option(0, 1);
  app.add_option("--device", options->device, "only this GPU");
  app.add_option("--process", options->process, "only this process: a pid, or rankN");
  app.add_flag("--json", options->json, "for programs: the same figures as JSON, in bytes");
  return [options] { return print_summary(*options); };
}

}  // namespace vramscope
