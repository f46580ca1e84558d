#include "recorder/stacks/frame_walk.h"

#include "recorder/code_unloads.h"
#include "recorder/stacks/cfa_interpreter.h"
#include "recorder/stacks/libgcc_unwinder.h"
#include "recorder/stacks/loaded_object.h"

namespace vramscope {
namespace {

constinit RuleTable rules;

UnwindRule look_up_rule(uint64_t return_address) {
  const uint64_t address = return_address - 1;  // in the call instruction
  const FunctionDescription found = find_function_description(address);
  if (found.fde == nullptr) return {.kind = UnwindRule::Kind::kEnd};  // as libgcc does
  const auto description = read_frame_description(found.fde);
  if (!description) return {.kind = UnwindRule::Kind::kUnsupported};
  return unwind_rule_at(*description, found.function, address);
}

// The first time that a return address is seen; for JIT code each time, because nobody tells when
// it changes.
[[gnu::noinline]] UnwindRule learn_rule(uint64_t return_address, uint64_t unloads,
                                        bool& is_volatile) {
  const UnwindRule rule = look_up_rule(return_address);
  LoadedObject object;
  if (find_loaded_object(return_address - 1, object)) {
    rules.insert(return_address, rule, unloads);
  } else {
    is_volatile = true;
  }
  return rule;
}

// Of other functions' frames: AddressSanitizer keeps parts of them that are no variables.
[[gnu::no_sanitize("address")]] uint64_t load_word(uint64_t address) {
  return *reinterpret_cast<const uint64_t*>(address);
}

// The registers of a frame, and the step to its caller's.
class Registers {
 public:
  Registers(const CallSite& site, const ThreadStack& stack)
      : stack_pointer_(site.stack_pointer),
        frame_pointer_(site.frame_pointer),
        last_word_(stack.high - sizeof(uint64_t)) {}

  // False: a word that it needs is not on the part of the stack that lies above. `reads` then says
  // what led there.
  bool step(UnwindRule rule, FrameReads& reads, uint64_t& return_address) {
    reads = {};
    uint64_t cfa = static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
    if (rule.kind == UnwindRule::Kind::kCfaFromStackPointer) {
      cfa += stack_pointer_;
    } else {
      reads.uses_frame_pointer = true;
      cfa += frame_pointer_;
      if (rule.kind == UnwindRule::Kind::kCfaBehindFramePointer) {
        if (!is_above(cfa)) return false;
        reads.cfa = cfa;
        cfa = load_word(cfa);
      }
    }
    const uint64_t return_slot = cfa + static_cast<uint64_t>(kReturnAddressOffset);
    if (cfa <= stack_pointer_ || !is_above(return_slot)) return false;
    if (rule.frame_pointer != UnwindRule::FramePointer::kUnchanged) {
      const bool is_at_cfa = rule.frame_pointer == UnwindRule::FramePointer::kSavedAtCfa;
      reads.uses_frame_pointer |= !is_at_cfa;
      const uint64_t frame_slot =
          (is_at_cfa ? cfa : frame_pointer_) +
          static_cast<uint64_t>(static_cast<int64_t>(rule.frame_pointer_offset));
      if (!is_above(frame_slot)) return false;
      reads.frame_pointer = frame_slot;
      frame_pointer_ = load_word(frame_slot);
    }
    reads.return_address = return_slot;
    return_address = load_word(return_slot);
    stack_pointer_ = cfa;
    return true;
  }

 private:
  bool is_above(uint64_t address) const {
    return address >= stack_pointer_ && address <= last_word_;
  }

  uint64_t stack_pointer_;
  uint64_t frame_pointer_;
  const uint64_t last_word_;
};

}  // namespace

FrameWalk walk_frames(const CallSite& site, const ThreadStack& stack,
                      std::span<uint64_t> return_addresses, std::span<FrameReads> reads) {
  FrameWalk walk;
  if (!stack.contains(site.stack_pointer)) return walk;
  const uint64_t unloads = code_unloads.load(std::memory_order_acquire);
  Registers registers(site, stack);
  uint64_t return_address = site.program_counter;
  while (return_address != 0) {
    if (walk.count == return_addresses.size()) {
      walk.result = FrameWalk::Result::kTruncated;
      return walk;
    }
    UnwindRule rule = rules.find(return_address, unloads);
    if (rule.kind == UnwindRule::Kind::kNone) [[unlikely]] {
      rule = learn_rule(return_address, unloads, walk.is_volatile);
    }
    if (rule.kind == UnwindRule::Kind::kUnsupported) return walk;
    return_addresses[walk.count] = return_address;
    FrameReads& frame = reads[walk.count++];
    if (rule.kind == UnwindRule::Kind::kEnd) {
      frame = {};
      break;
    }
    if (!registers.step(rule, frame, return_address)) [[unlikely]] {
      walk.result = FrameWalk::Result::kLost;
      return walk;
    }
  }
  walk.result = FrameWalk::Result::kComplete;
  return walk;
}

RuleTable& rules_of_process() { return rules; }

void forget_rules_after_fork() { rules.forget_after_fork(); }

}  // namespace vramscope
