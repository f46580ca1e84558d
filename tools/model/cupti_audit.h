// Whether CUPTI saw the same allocations and releases as the hooks (VRAMSCOPE_CUPTI=1).
//
// CUPTI's records come in batches, later than the calls: what is compared is how often each
// operation on each address was seen, not when. Calls from before CUPTI listened are left out, and
// so is what only one of the two knows at all: arrays and static memory (CUPTI), virtual memory
// (hooks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/record.h"

namespace vramscope {

// An address at which the two accounts differ.
struct CuptiDifference {
  uint64_t address;
  bool is_release;
  int64_t operations;  // that the hooks saw minus those that CUPTI saw
  int64_t bytes;       // likewise; of allocations
};

struct CuptiAudit {
  bool started = false;
  uint64_t agreed = 0;      // operations that both saw
  uint64_t hooks_only = 0;  // and that one saw alone
  uint64_t cupti_only = 0;
  uint64_t sizes_differ = 0;  // addresses at which both saw as many allocations, of other sizes
  uint64_t not_compared = 0;  // CUPTI's records of other kinds of memory
  uint64_t lost = 0;          // records that CUPTI dropped
  std::vector<CuptiDifference> differences;  // the first kMostDifferences by address
};

constexpr size_t kMostDifferences = 16;

class CuptiAuditor {
 public:
  void apply(const Event& event);

  // nullopt: nobody asked for an audit.
  std::optional<CuptiAudit> result() const;

 private:
  // Of one address: how often the hooks saw it minus how often CUPTI did; the same of the bytes,
  // modulo 2^64.
  struct Balance {
    int64_t operations = 0;
    uint64_t bytes = 0;
  };
  using Balances = std::unordered_map<uint64_t, Balance>;

  void count(const Event& event, bool is_release, int64_t sign);

  bool asked_ = false;
  CuptiAudit audit_;
  uint64_t hooks_ = 0;
  Balances allocated_;
  Balances released_;
};

}  // namespace vramscope
