#include "recorder/stacks/cfa_interpreter.h"

#include <array>
#include <limits>

#include "recorder/stacks/dwarf_reader.h"

namespace vramscope {
namespace {

// Call frame instructions. The first three keep their first operand in the low six bits.
enum Instruction : uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
};
constexpr uint8_t kHighBits = 0xc0;

constexpr uint64_t number(DwarfRegister which) { return static_cast<uint64_t>(which); }
constexpr uint64_t kFramePointer = number(DwarfRegister::kFramePointer);
constexpr uint64_t kStackPointer = number(DwarfRegister::kStackPointer);
constexpr uint64_t kReturnAddress = number(DwarfRegister::kReturnAddress);

// Where the caller's value of a register is.
struct Saved {
  enum class Where : uint8_t { kUnchanged, kAtCfa, kAtFramePointer, kUndefined, kElsewhere };
  Where where = Where::kUnchanged;
  int64_t offset = 0;
};

// One row of the table that the instructions describe.
struct Row {
  enum class Cfa : uint8_t { kRegister, kBehindFramePointer, kOther };
  Cfa cfa = Cfa::kOther;
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  Saved frame_pointer;
  Saved return_address;
  bool moves_stack_pointer = false;  // the caller's rsp is not the CFA
};

// The two forms of expression that compilers use here: rbp + offset, and the word found there.
struct FramePointerExpression {
  int64_t offset = 0;
  bool is_dereferenced = false;
  bool is_valid = false;
};

FramePointerExpression read_expression(std::span<const uint8_t> bytes) {
  constexpr uint8_t kBaseRegister6 = 0x76;  // DW_OP_breg6
  constexpr uint8_t kDereference = 0x06;    // DW_OP_deref
  DwarfReader reader(bytes);
  if (reader.fixed<uint8_t>() != kBaseRegister6) return {};
  FramePointerExpression expression;
  expression.offset = reader.sleb();
  if (!reader.is_at_end()) {
    if (reader.fixed<uint8_t>() != kDereference) return {};
    expression.is_dereferenced = true;
  }
  expression.is_valid = reader.is_at_end() && !reader.has_failed();
  return expression;
}

class Interpreter {
 public:
  Interpreter(const FrameDescription& description, uint64_t function, uint64_t address)
      : description_(description), location_(function), address_(address) {}

  UnwindRule run() {
    execute(description_.initial_instructions);
    initial_ = row_;
    execute(description_.instructions);
    return is_supported_ ? rule() : UnwindRule{.kind = UnwindRule::Kind::kUnsupported};
  }

 private:
  // Up to the row that holds at address_.
  void execute(std::span<const uint8_t> instructions) {
    DwarfReader reader(instructions);
    while (!reader.is_at_end() && is_supported_ && location_ <= address_) {
      execute_one(reader);
      if (reader.has_failed()) is_supported_ = false;
    }
  }

  void execute_one(DwarfReader& reader) {
    const auto code = reader.fixed<uint8_t>();
    const uint8_t operand = code & ~kHighBits;
    switch (code & kHighBits) {
      case kAdvanceLoc:
        return advance(operand);
      case kOffset:
        return save_at_cfa(operand, static_cast<int64_t>(reader.uleb()));
      case kRestore:
        return restore(operand);
      default:
        if (!execute_location(code, reader) && !execute_cfa(code, reader)) {
          execute_register(code, reader);
        }
    }
  }

  bool execute_location(uint8_t code, DwarfReader& reader) {
    switch (code) {
      case kNop:
        break;
      case kAdvanceLoc1:
        advance(reader.fixed<uint8_t>());
        break;
      case kAdvanceLoc2:
        advance(reader.fixed<uint16_t>());
        break;
      case kAdvanceLoc4:
        advance(reader.fixed<uint32_t>());
        break;
      case kRememberState:
        if (remembered_count_ == remembered_.size()) return refuse();
        remembered_[remembered_count_++] = row_;
        break;
      case kRestoreState:
        if (remembered_count_ == 0) return refuse();
        row_ = remembered_[--remembered_count_];
        break;
      case kGnuArgsSize:  // concerns landing pads only
        reader.uleb();
        break;
      default:
        return false;
    }
    return true;
  }

  bool execute_cfa(uint8_t code, DwarfReader& reader) {
    switch (code) {
      case kDefCfa:
        define_cfa(reader.uleb());
        row_.cfa_offset = static_cast<int64_t>(reader.uleb());
        break;
      case kDefCfaSf:
        define_cfa(reader.uleb());
        row_.cfa_offset = reader.sleb() * description_.data_alignment;
        break;
      case kDefCfaRegister:
        define_cfa(reader.uleb());
        break;
      case kDefCfaOffset:
        row_.cfa_offset = static_cast<int64_t>(reader.uleb());
        break;
      case kDefCfaOffsetSf:
        row_.cfa_offset = reader.sleb() * description_.data_alignment;
        break;
      case kDefCfaExpression: {
        const auto expression = read_expression(reader.bytes(reader.uleb()));
        const bool is_known = expression.is_valid && expression.is_dereferenced;
        row_.cfa = is_known ? Row::Cfa::kBehindFramePointer : Row::Cfa::kOther;
        row_.cfa_offset = expression.offset;
        break;
      }
      default:
        return false;
    }
    return true;
  }

  void execute_register(uint8_t code, DwarfReader& reader) {
    const uint64_t which = reader.uleb();
    switch (code) {
      case kOffsetExtended:
        return save_at_cfa(which, static_cast<int64_t>(reader.uleb()));
      case kOffsetExtendedSf:
        return save_at_cfa(which, reader.sleb());
      case kRestoreExtended:
        return restore(which);
      case kUndefined:
        return set(which, {Saved::Where::kUndefined, 0});
      case kSameValue:
        return set(which, {});
      case kExpression: {
        const auto expression = read_expression(reader.bytes(reader.uleb()));
        const bool is_known = expression.is_valid && !expression.is_dereferenced;
        return set(which, {is_known ? Saved::Where::kAtFramePointer : Saved::Where::kElsewhere,
                           expression.offset});
      }
      case kRegister:
      case kValOffset:
        reader.uleb();
        return set(which, {Saved::Where::kElsewhere, 0});
      case kValOffsetSf:
        reader.sleb();
        return set(which, {Saved::Where::kElsewhere, 0});
      case kValExpression:
        reader.bytes(reader.uleb());
        return set(which, {Saved::Where::kElsewhere, 0});
      default:
        refuse();
    }
  }

  bool refuse() {
    is_supported_ = false;
    return true;
  }

  void advance(uint64_t units) { location_ += units * description_.code_alignment; }

  void define_cfa(uint64_t which) {
    row_.cfa = Row::Cfa::kRegister;
    row_.cfa_register = which;
  }

  // What a walk does not need to know is not kept.
  void set(uint64_t which, const Saved& saved) {
    if (which == kFramePointer) row_.frame_pointer = saved;
    if (which == kReturnAddress) row_.return_address = saved;
    if (which == kStackPointer) {
      row_.moves_stack_pointer = saved.where != Saved::Where::kUnchanged;
    }
  }

  void save_at_cfa(uint64_t which, int64_t factored_offset) {
    set(which, {Saved::Where::kAtCfa, factored_offset * description_.data_alignment});
  }

  void restore(uint64_t which) {
    if (which == kFramePointer) row_.frame_pointer = initial_.frame_pointer;
    if (which == kStackPointer) row_.moves_stack_pointer = initial_.moves_stack_pointer;
    // libgcc takes this for "in its register", DWARF for the CIE's rule: nobody writes it.
    if (which == kReturnAddress) refuse();
  }

  UnwindRule rule() const {
    using Kind = UnwindRule::Kind;
    constexpr UnwindRule kRefused{.kind = Kind::kUnsupported};
    if (row_.return_address.where == Saved::Where::kUndefined) return {.kind = Kind::kEnd};
    if (row_.return_address.where != Saved::Where::kAtCfa ||
        row_.return_address.offset != kReturnAddressOffset || row_.moves_stack_pointer ||
        !fits<int32_t>(row_.cfa_offset) || !fits<int16_t>(row_.frame_pointer.offset)) {
      return kRefused;
    }
    UnwindRule rule{.cfa_offset = static_cast<int32_t>(row_.cfa_offset)};
    if (row_.cfa == Row::Cfa::kBehindFramePointer) {
      rule.kind = Kind::kCfaBehindFramePointer;
    } else if (row_.cfa == Row::Cfa::kRegister && row_.cfa_register == kStackPointer) {
      rule.kind = Kind::kCfaFromStackPointer;
    } else if (row_.cfa == Row::Cfa::kRegister && row_.cfa_register == kFramePointer) {
      rule.kind = Kind::kCfaFromFramePointer;
    } else {
      return kRefused;
    }
    switch (row_.frame_pointer.where) {
      case Saved::Where::kUnchanged:
      case Saved::Where::kUndefined:  // as libgcc does
        return rule;
      case Saved::Where::kAtCfa:
        rule.frame_pointer = UnwindRule::FramePointer::kSavedAtCfa;
        break;
      case Saved::Where::kAtFramePointer:
        rule.frame_pointer = UnwindRule::FramePointer::kSavedAtFramePointer;
        break;
      case Saved::Where::kElsewhere:
        return kRefused;
    }
    rule.frame_pointer_offset = static_cast<int16_t>(row_.frame_pointer.offset);
    return rule;
  }

  template <typename Narrow>
  static bool fits(int64_t value) {
    return value >= std::numeric_limits<Narrow>::min() &&
           value <= std::numeric_limits<Narrow>::max();
  }

  const FrameDescription& description_;
  uint64_t location_;
  const uint64_t address_;
  Row row_;
  Row initial_;
  std::array<Row, 16> remembered_;
  size_t remembered_count_ = 0;
  bool is_supported_ = true;
};

}  // namespace

UnwindRule unwind_rule_at(const FrameDescription& description, uint64_t function,
                          uint64_t address) {
  if (description.is_signal_frame) return {.kind = UnwindRule::Kind::kUnsupported};
  return Interpreter(description, function, address).run();
}

}  // namespace vramscope
