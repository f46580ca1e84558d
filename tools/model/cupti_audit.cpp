#include "tools/model/cupti_audit.h"

#include <algorithm>
#include <utility>

namespace vramscope {
namespace {

// CUpti_ActivityMemoryKind: pinned, device, managed.
bool is_compared(uint64_t memory_kind) {
  return memory_kind == 2 || memory_kind == 3 || memory_kind == 5;
}

bool allocates(RecordKind kind) {
  return kind == RecordKind::kDeviceAlloc || kind == RecordKind::kManagedAlloc ||
         kind == RecordKind::kAsyncAlloc || kind == RecordKind::kHostAlloc;
}

bool releases(RecordKind kind) {
  return kind == RecordKind::kDeviceFree || kind == RecordKind::kAsyncFree ||
         kind == RecordKind::kHostFree;
}

}  // namespace

void CuptiAuditor::apply(const Event& event) {
  switch (event.kind) {
    case RecordKind::kCuptiStart:
      asked_ = true;
      audit_.started |= event.result == 0;
      return;
    case RecordKind::kCuptiLost:
      audit_.lost += event.size;
      return;
    case RecordKind::kCuptiAlloc:
    case RecordKind::kCuptiRelease:
      if (!is_compared(event.extra)) {
        ++audit_.not_compared;
        return;
      }
      return count(event, event.kind == RecordKind::kCuptiRelease, -1);
    default:
      break;
  }
  if (!audit_.started || event.result != 0 || event.address == 0) return;
  if (!allocates(event.kind) && !releases(event.kind)) return;
  ++hooks_;
  count(event, releases(event.kind), 1);
}

void CuptiAuditor::count(const Event& event, bool is_release, int64_t sign) {
  Balance& balance = (is_release ? released_ : allocated_)[event.address];
  balance.operations += sign;
  if (!is_release) balance.bytes += static_cast<uint64_t>(sign) * event.size;
}

std::optional<CuptiAudit> CuptiAuditor::result() const {
  if (!asked_) return std::nullopt;
  CuptiAudit audit = audit_;
  for (const Balances* balances : {&allocated_, &released_}) {
    for (const auto& [address, balance] : *balances) {
      if (balance.operations > 0) audit.hooks_only += static_cast<uint64_t>(balance.operations);
      if (balance.operations < 0) audit.cupti_only += static_cast<uint64_t>(-balance.operations);
      if (balance.operations == 0 && balance.bytes != 0) ++audit.sizes_differ;
      if (balance.operations != 0 || balance.bytes != 0) {
        audit.differences.push_back({address, balances == &released_, balance.operations,
                                     static_cast<int64_t>(balance.bytes)});
      }
    }
  }
  std::ranges::sort(audit.differences, {}, [](const CuptiDifference& difference) {
    return std::pair(difference.address, difference.is_release);
  });
  if (audit.differences.size() > kMostDifferences) audit.differences.resize(kMostDifferences);
  audit.agreed = hooks_ - audit.hooks_only;
  return audit;
}

}  // namespace vramscope
