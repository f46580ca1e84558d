#include "tools/simgpu/core/shared_event.h"

namespace simgpu {

Status export_event(Event& event, ShareRegistry& shares, ShareHandle* handle) {
  if (!event.interprocess) return Status::kInvalidHandle;
  if (!event.shared.file) {
    const std::shared_ptr<ShareFile>& file = shares.own();
    if (!file) return Status::kNotSupported;
    uint32_t index = 0;
    const Status status =
        shares.publish(ShareKind::kEvent, shares.board_of(event.device), 0, 0, &index);
    if (status != Status::kSuccess) return status;
    event.shared = {file, index};
    if (event.recorded) mark_recorded(event, event.complete_at, shares);
  }
  if (!shares.is_own(event.shared)) return Status::kInvalidHandle;
  *handle = shares.handle_of(event.shared.index);
  return Status::kSuccess;
}

Status open_event(const ShareHandle& handle, ShareRegistry& shares, Event* event) {
  ShareEntry entry;
  const Status status = shares.find(handle, ShareKind::kEvent, &entry);
  if (status != Status::kSuccess) return status;
  if (shares.is_own(entry)) return Status::kInvalidContext;  // handles are for other processes
  const int device = shares.device_of(entry.slot().board);
  if (device < 0) return Status::kMapFailed;
  *event = Event{.device = device, .timed = false, .interprocess = true, .shared = entry};
  return Status::kSuccess;
}

void close_event(Event& event, ShareRegistry& shares) {
  if (event.shared.file && shares.is_own(event.shared)) shares.withdraw(event.shared.index);
  event.shared = {};
}

void mark_recorded(Event& event, Ticks complete_at, const ShareRegistry& shares) {
  event.recorded = true;
  event.complete_at = complete_at;
  if (!event.shared.file) return;
  ShareSlot& slot = event.shared.slot();
  slot.complete_at.store(complete_at);
  slot.recorded_by.store(shares.process_token());
}

Ticks completion(const Event& event, const ShareRegistry& shares) {
  if (!event.shared.file) return event.recorded ? event.complete_at : 0;
  const ShareSlot& slot = event.shared.slot();
  return slot.recorded_by.load() == shares.process_token() ? slot.complete_at.load() : 0;
}

}  // namespace simgpu
