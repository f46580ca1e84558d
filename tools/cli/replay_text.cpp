#include "tools/cli/replay_text.h"

#include <cstdarg>
#include <cstdio>

#include "tools/analysis/stack_summary.h"
#include "tools/cli/place_text.h"
#include "tools/cli/text.h"

namespace vramscope {
namespace {

constexpr size_t kSettingsColumn = 57;

class ReplayText {
 public:
  explicit ReplayText(uint64_t empty_cache_every) : empty_cache_every_(empty_cache_every) {}

  std::string text;

  void add(const DeviceReplay& replay) {
    if (!text.empty()) text += '\n';
    add_heading(replay);
    add_agreement(replay.agreement);
    text += '\n';
    line("  %13s %13s %6s %9s  %-9s %s", "peak reserved", "allocated", "idle", "calls", "fits",
         "settings");
    for (const ReplayRow& row : replay.rows) add_row(row);
    for (const ReplayRow& row : replay.rows)
      if (row.result.failure && (row.is_recorded || replay.rows.size() <= kDetailedRows))
        add_failure(replay, row);
  }

 private:
  static constexpr size_t kDetailedRows = 4;

  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    text += buffer;
    text += '\n';
  }

  void add_heading(const DeviceReplay& replay) {
    const ProcessRecording& process = *replay.process;
    line("%s",
         shown(process.command.empty() ? process.source : process.command, kTextColumns).c_str());
    std::string facts;
    if (process.pid) facts += "process " + std::to_string(*process.pid) + ", ";
    if (process.rank) facts += "rank " + std::to_string(*process.rank) + ", ";
    facts += "GPU " + std::to_string(replay.trace->device) + ", " +
             plural(replay.requests, "allocation") + "; " + capacity_text(replay);
    line("%s", shown(facts, kTextColumns).c_str());
    if (replay.blocks_before > 0)
      line("The recording begins late: %s from before it %s placed anew.",
           plural(replay.blocks_before, "block").c_str(), replay.blocks_before == 1 ? "is" : "are");
  }

  static std::string capacity_text(const DeviceReplay& replay) {
    switch (replay.capacity_origin) {
      case CapacityOrigin::kUnlimited:
        return "no limit (--capacity sets one)";
      case CapacityOrigin::kGiven:
        return "capacity " + binary_size(replay.capacity_bytes);
      case CapacityOrigin::kFailedRequest:
        return "capacity " + binary_size(replay.capacity_bytes) + ", as when a request failed";
    }
    return {};
  }

  void add_agreement(const Agreement& agreement) {
    const std::string segments =
        with_commas(agreement.equal_segments) + " of " + plural(agreement.segments, "segment");
    if (agreement.agrees()) {
      line("The replay agrees with the recording: %s, peak reserved %s.", segments.c_str(),
           binary_size(agreement.recorded_peak_reserved_bytes).c_str());
      return;
    }
    line("The replay DIFFERS from the recording: %s; peak reserved %s, recorded %s.",
         segments.c_str(), binary_size(agreement.replayed.peak_reserved_bytes).c_str(),
         binary_size(agreement.recorded_peak_reserved_bytes).c_str());
  }

  void add_row(const ReplayRow& row) {
    const ReplayResult& result = row.result;
    std::string settings = row.settings.empty() ? "PyTorch's defaults" : row.settings;
    if (row.is_recorded) settings = "as recorded: " + settings;
    if (!row.is_recorded && empty_cache_every_ > 0) settings += " + empty_cache";
    line("  %13s %13s %5.1f%% %9s  %-9s %s", binary_size(result.peak_reserved_bytes).c_str(),
         binary_size(result.peak_allocated_bytes).c_str(), 100 * result.idle_share(),
         with_commas(result.end.driver_calls()).c_str(), result.failure ? "no" : "yes",
         shown(settings, kTextColumns - kSettingsColumn).c_str());
  }

  void add_failure(const DeviceReplay& replay, const ReplayRow& row) {
    const ReplayFailure& failure = *row.result.failure;
    const std::string settings = row.is_recorded        ? "the recorded settings"
                                 : row.settings.empty() ? "PyTorch's defaults"
                                                        : row.settings;
    text += '\n';
    line("%s", shown("Out of memory with " + settings, kTextColumns).c_str());
    line("  event %s: %s%s requested, %s needed of the driver, %s free",
         with_commas(failure.event).c_str(), failure.is_outside ? "beside the allocator: " : "",
         binary_size(failure.requested_bytes).c_str(), binary_size(failure.needed_bytes).c_str(),
         binary_size(failure.free_bytes).c_str());
    line("  reserved %s, allocated %s, waiting for a stream %s, beside the allocator %s",
         binary_size(failure.reserved_bytes).c_str(), binary_size(failure.allocated_bytes).c_str(),
         binary_size(failure.active_bytes - failure.allocated_bytes).c_str(),
         binary_size(failure.outside_bytes).c_str());
    line("  largest cached block %s%s", binary_size(failure.largest_cached_block).c_str(),
         failure.was_refused ? "; this request failed in the recording too" : "");
    const TraceEvent event = replay.trace->events.at(failure.event);
    const StackSummary place = summarize_stack(*replay.process, event.stack, 0);
    if (place.known)
      line("  at %s", place_text(*replay.process, place.place, kTextColumns - 5).c_str());
  }

  const uint64_t empty_cache_every_;
};

}  // namespace

std::string replay_text(const std::vector<DeviceReplay>& replays, uint64_t empty_cache_every) {
  ReplayText writer(empty_cache_every);
  for (const DeviceReplay& replay : replays) writer.add(replay);
  return std::move(writer.text);
}

}  // namespace vramscope
