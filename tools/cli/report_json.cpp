#include "tools/cli/report_json.h"

#include <nlohmann/json.hpp>

#include "tools/cli/text.h"
#include "tools/formats/utf8.h"

namespace vramscope {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(to_utf8(text));
}

Json frames_json(const ProcessRecording& process, StackId stack) {
  Json frames = Json::array();
  for (const FrameId id : process.stacks.frames(stack)) {
    const Frame& frame = process.stacks.frame(id);
    frames.push_back({{"name", to_utf8(process.strings.at(frame.name))},
                      {"filename", to_utf8(process.strings.at(frame.filename))},
                      {"line", frame.line}});
  }
  return frames;
}

std::string category_json(const ProcessRecording& process, StringId category) {
  return category == 0 ? "unknown" : to_utf8(process.strings.at(category));
}

Json nvtx_json(const ProcessRecording& process, const RangeReport& ranges) {
  Json list = Json::array();
  for (const NvtxUse& use : ranges.nvtx)
    list.push_back({{"name", to_utf8(process.strings.at(use.name))},
                    {"domain", to_utf8(process.strings.at(use.domain))},
                    {"kind", range_kind_name(use.kind)},
                    {"times", use.times},
                    {"open", use.open},
                    {"peak_allocated_bytes", use.peak_allocated_bytes},
                    {"kept_bytes", use.kept_bytes}});
  return list;
}

Json steps_json(const ProcessRecording& process, const RangeReport& ranges) {
  Json list = Json::array();
  for (const StepUse& use : ranges.steps)
    list.push_back({{"kind", range_kind_name(use.kind)},
                    {"count", use.peak_allocated_bytes.size()},
                    {"peak_allocated_bytes", use.peak_allocated_bytes},
                    {"growth_bytes_per_step", or_null(use.growth_bytes)},
                    {"frames", frames_json(process, use.stack)}});
  return list;
}

Json device_json(const ProcessRecording& process, const DeviceReport& device, size_t top) {
  Json categories = Json::array();
  for (const CategoryUse& use : device.allocated_at_peak)
    categories.push_back({{"category", category_json(process, use.category)},
                          {"bytes", use.bytes},
                          {"blocks", use.blocks}});
  Json owners = Json::array();
  for (const OwnerUse& use : device.owners_at_peak)
    owners.push_back({{"owner", to_utf8(use.owner)}, {"bytes", use.bytes}});
  Json stacks = Json::array();
  for (const StackUse& use : device.stacks_at_peak) {
    if (top != 0 && stacks.size() == top) break;
    stacks.push_back({{"bytes", use.bytes},
                      {"blocks", use.blocks},
                      {"category", category_json(process, use.category)},
                      {"frames", frames_json(process, use.stack)}});
  }
  return {{"device", device.device},
          {"capacity_bytes", nullptr},
          {"peak_allocated_bytes", device.peak_allocated_bytes},
          {"peak_reserved_bytes", device.peak_reserved_bytes},
          {"peak_outside_bytes", device.peak_outside_bytes},
          {"live_bytes", device.live_bytes},
          {"live_blocks", device.live_blocks},
          {"live_reserved_bytes", device.live_reserved_bytes},
          {"allocated_at_peak", std::move(categories)},
          {"owners", std::move(owners)},
          {"top", std::move(stacks)},
          {"nvtx_ranges", nvtx_json(process, device.ranges)},
          {"steps", steps_json(process, device.ranges)}};
}

Json oom_json(const ProcessRecording& process, const OutOfMemory& oom) {
  Json outside = Json::array();
  for (const OwnerBytes& use : oom.outside)
    outside.push_back({{"owner", to_utf8(use.owner)}, {"bytes", use.bytes}});
  Json because = Json::array();
  for (const std::string& text : oom.because) because.push_back(to_utf8(text));
  Json advice = Json::array();
  for (const std::string& text : oom.advice) advice.push_back(to_utf8(text));
  Json pinned = Json::array();
  for (const PinnedBy& each : oom.pinned_by)
    pinned.push_back({{"bytes", each.bytes},
                      {"blocks", each.blocks},
                      {"block_bytes", each.block_bytes},
                      {"frames", frames_json(process, each.stack)}});
  return {{"device", oom.device},
          {"requested_bytes", oom.requested_bytes},
          {"asked_by", text_or_null(oom.asked_by)},
          {"capacity_bytes", or_null(oom.capacity_bytes)},
          {"free_bytes", or_null(oom.free_bytes)},
          {"other_bytes", or_null(oom.other_bytes)},
          {"reserved_bytes", oom.reserved_bytes},
          {"allocated_bytes", oom.allocated_bytes},
          {"cached_bytes", oom.cached_bytes},
          {"releasable_bytes", oom.releasable_bytes},
          {"largest_free_block_bytes", oom.largest_free_block_bytes},
          {"pending_free_bytes", oom.pending_free_bytes},
          {"private_pool_bytes", oom.private_pool_bytes},
          {"outside", std::move(outside)},
          {"refusals", oom.refusals},
          {"final", oom.is_final},
          {"verdict", oom_verdict_name(oom.verdict)},
          {"confidence", confidence_name(oom.confidence)},
          {"because", std::move(because)},
          {"advice", std::move(advice)},
          {"pinned_by", std::move(pinned)},
          {"frames", frames_json(process, oom.stack)}};
}

Json kinds_json(const ProcessRecording& process) {
  Json kinds = Json::array();
  for (const KindUse& use : process.kinds) {
    const bool sized = has_known_size(use.kind);
    kinds.push_back({{"kind", memory_kind_name(use.kind)},
                     {"device", use.device < 0 ? Json(nullptr) : Json(use.device)},
                     {"peak_bytes", sized ? Json(use.peak_bytes) : Json(nullptr)},
                     {"peak_count", use.peak_count},
                     {"live_bytes", sized ? Json(use.live_bytes) : Json(nullptr)},
                     {"live_count", use.live_count}});
  }
  return kinds;
}

Json audit_json(const std::optional<CuptiAudit>& audit) {
  if (!audit) return nullptr;
  Json differences = Json::array();
  for (const CuptiDifference& difference : audit->differences) {
    differences.push_back({{"address", difference.address},
                           {"operation", difference.is_release ? "free" : "alloc"},
                           {"hooks_minus_cupti", difference.operations},
                           {"bytes", difference.bytes}});
  }
  return {{"started", audit->started},
          {"agreed", audit->agreed},
          {"hooks_only", audit->hooks_only},
          {"cupti_only", audit->cupti_only},
          {"sizes_differ", audit->sizes_differ},
          {"not_compared", audit->not_compared},
          {"lost", audit->lost},
          {"differences", std::move(differences)}};
}

Json process_json(const ProcessReport& report, size_t top) {
  const ProcessRecording& process = *report.process;
  Json devices = Json::array();
  for (const DeviceReport& device : report.devices)
    devices.push_back(device_json(process, device, top));
  Json ooms = Json::array();
  for (const OutOfMemory& oom : report.ooms) ooms.push_back(oom_json(process, oom));
  const KindUse pinned = find_kind(process.kinds, MemoryKind::kPinned, kNoDevice);
  const KindUse registered = find_kind(process.kinds, MemoryKind::kRegistered, kNoDevice);
  return {{"pid", or_null(process.pid)},
          {"rank", or_null(process.rank)},
          {"host", text_or_null(process.host)},
          {"command", text_or_null(process.command)},
          {"source", to_utf8(process.source)},
          {"events", process.events},
          {"lost_events", process.lost_events},
          {"finished", process.finished},
          {"warning", text_or_null(process.warning)},
          {"repairs", process.repairs},
          {"counter_differences", process.counters.differences},
          {"cupti_audit", audit_json(process.cupti_audit)},
          {"devices", std::move(devices)},
          {"ooms", std::move(ooms)},
          {"kinds", kinds_json(process)},
          {"host_memory",
           {{"pinned_peak_bytes", pinned.peak_bytes},
            {"pinned_live_bytes", pinned.live_bytes},
            {"registered_live_bytes", registered.live_bytes}}}};
}

}  // namespace

std::string report_json(const std::vector<ProcessReport>& processes, size_t top) {
  Json list = Json::array();
  for (const ProcessReport& process : processes) list.push_back(process_json(process, top));
  return Json{{"processes", std::move(list)}}.dump(2) + "\n";
}

}  // namespace vramscope
