#include "tools/analysis/advice.h"

#include <algorithm>
#include <optional>

#include "tools/analysis/allocator/replay_report.h"
#include "tools/analysis/size_text.h"
#include "tools/model/user_error.h"

namespace vramscope {
namespace {

constexpr size_t kMostSettings = 2;  // to be advised for one request

// Whether other settings can change anything about the request.
bool depends_on_settings(const OutOfMemory& oom) {
  return oom.asked_by.empty() && oom.verdict != OomVerdict::kImpossibleSize &&
         oom.verdict != OomVerdict::kLimitOrRefusal && oom.verdict != OomVerdict::kOversubscribed;
}

// nullopt: no replay that does what the job did.
std::optional<DeviceReplay> replay_what_if(const ProcessRecording& process,
                                           const DeviceTrace& trace) {
  try {
    ReplayQuestion question;
    question.what_if = true;
    DeviceReplay replay = replay_device(process, trace, question);
    const bool is_proof =
        replay.capacity_origin == CapacityOrigin::kFailedRequest && replay.agreement.agrees();
    return is_proof ? std::optional(std::move(replay)) : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;  // of another allocator
  }
}

bool serves(const ReplayRow& row, const OutOfMemory& oom) {
  return !row.result.failure || row.result.failure->event > oom.event;
}

std::string helpful_settings_text(const ReplayRow& row, const DeviceReplay& replay) {
  const std::string settings =
      row.settings.empty() ? "PyTorch's default settings" : "PYTORCH_ALLOC_CONF=" + row.settings;
  const std::string then = row.result.failure ? "; a later request fails" : "";
  return settings + " would have fitted it (peak reserved " +
         size_text(row.result.peak_reserved_bytes) + " of " + size_text(replay.capacity_bytes) +
         ")" + then;
}

void advise_settings(const DeviceReplay& replay, OutOfMemory& oom) {
  size_t others = 0;
  for (const ReplayRow& row : replay.rows) {
    if (row.is_recorded) continue;
    ++others;
    if (serves(row, oom) && oom.advice.size() < kMostSettings)
      oom.advice.push_back(helpful_settings_text(row, replay));
  }
  if (!oom.advice.empty()) return;
  oom.advice.push_back("no setting of PyTorch's allocator helps (" + std::to_string(others) +
                       " replayed): " + size_text(oom.allocated_bytes) + " was live, and " +
                       size_text(oom.requested_bytes) + " more was asked for, of " +
                       size_text(replay.capacity_bytes));
}

}  // namespace

void add_advice(const ProcessRecording& process, const DeviceTrace& trace,
                std::vector<OutOfMemory>& ooms) {
  for (OutOfMemory& oom : ooms)
    if (oom.verdict == OomVerdict::kStarvedByCache)
      oom.advice.push_back("torch.cuda.empty_cache() before that request leaves " +
                           size_text(oom.releasable_bytes + oom.free_bytes.value_or(0)) +
                           " free: enough for it");
  if (trace.events.size() > kMostEventsToAdviseOn ||
      std::ranges::none_of(ooms, depends_on_settings))
    return;
  const auto replay = replay_what_if(process, trace);
  if (!replay) return;
  for (OutOfMemory& oom : ooms)
    if (depends_on_settings(oom)) advise_settings(*replay, oom);
}

}  // namespace vramscope
