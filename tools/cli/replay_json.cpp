#include "tools/cli/replay_json.h"

#include <nlohmann/json.hpp>

#include "tools/formats/utf8.h"

namespace vramscope {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json event_json(const std::optional<AllocatorEvent>& event) {
  if (!event) return nullptr;
  return {{"action", action_name(event->action)},
          {"address", event->address},
          {"size", event->size},
          {"stream", event->stream},
          {"pool_id", event->pool}};
}

Json agreement_json(const Agreement& agreement) {
  return {{"agrees", agreement.agrees()},
          {"segments", agreement.segments},
          {"equal_segments", agreement.equal_segments},
          {"replayed_segments", agreement.replayed_segments},
          {"recorded_peak_reserved_bytes", agreement.recorded_peak_reserved_bytes},
          {"replayed_peak_reserved_bytes", agreement.replayed.peak_reserved_bytes},
          {"events", agreement.events},
          {"equal_events", agreement.equal_events},
          {"first_difference", or_null(agreement.first_difference)},
          {"recorded_there", event_json(agreement.recorded_there)},
          {"replayed_there", event_json(agreement.replayed_there)}};
}

Json failure_json(const std::optional<ReplayFailure>& failure) {
  if (!failure) return nullptr;
  return {{"event", failure->event},
          {"requested_bytes", failure->requested_bytes},
          {"needed_bytes", failure->needed_bytes},
          {"free_bytes", failure->free_bytes},
          {"reserved_bytes", failure->reserved_bytes},
          {"allocated_bytes", failure->allocated_bytes},
          {"active_bytes", failure->active_bytes},
          {"outside_bytes", failure->outside_bytes},
          {"largest_cached_block_bytes", failure->largest_cached_block},
          {"is_outside", failure->is_outside},
          {"failed_in_recording", failure->was_refused}};
}

Json row_json(const ReplayRow& row) {
  const ReplayResult& result = row.result;
  return {{"settings", to_utf8(row.settings)},
          {"recorded", row.is_recorded},
          {"fits", !result.failure},
          {"peak_reserved_bytes", result.peak_reserved_bytes},
          {"peak_allocated_bytes", result.peak_allocated_bytes},
          {"peak_active_bytes", result.peak_active_bytes},
          {"peak_device_bytes", result.peak_device_bytes},
          {"idle_share_at_peak", result.idle_share()},
          {"reserved_at_end_bytes", result.end.reserved_bytes},
          {"segment_allocs", result.end.segment_allocs},
          {"segment_frees", result.end.segment_frees},
          {"maps", result.end.maps},
          {"unmaps", result.end.unmaps},
          {"retries", result.end.retries},
          {"served", result.requests},
          {"failed_as_recorded", result.refused_as_recorded},
          {"failed_in_recording_only", result.refused_before},
          {"failure", failure_json(result.failure)}};
}

Json replay_json(const DeviceReplay& replay) {
  Json rows = Json::array();
  for (const ReplayRow& row : replay.rows) rows.push_back(row_json(row));
  const bool is_limited = replay.capacity_origin != CapacityOrigin::kUnlimited;
  return {{"source", to_utf8(replay.process->source)},
          {"pid", or_null(replay.process->pid)},
          {"rank", or_null(replay.process->rank)},
          {"device", replay.trace->device},
          {"allocations", replay.requests},
          {"blocks_from_before", replay.blocks_before},
          {"capacity_bytes", is_limited ? Json(replay.capacity_bytes) : Json(nullptr)},
          {"agreement", agreement_json(replay.agreement)},
          {"replays", rows}};
}

}  // namespace

std::string replay_json(const std::vector<DeviceReplay>& replays) {
  Json devices = Json::array();
  for (const DeviceReplay& replay : replays) devices.push_back(replay_json(replay));
  return Json{{"devices", devices}}.dump(2) + "\n";
}

}  // namespace vramscope
